package dev.idempotency.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.OutboxEvent;
import java.lang.reflect.Method;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** What cannot hold does not compile, and what other versions rely on stays. */
class RelayModesTest {
    @Test
    void orderIsAnOptionOfLeasesAlone() {
        assertThat(options(LeaseRelayBuilder.class)).contains("ordering");
        assertThat(options(ClaimRelayBuilder.class)).doesNotContain("ordering");
        assertThat(options(LockRelayBuilder.class)).doesNotContain("ordering", "lease");
    }

    private static String[] options(Class<?> builder) {
        return Arrays.stream(builder.getMethods())
                .map(Method::getName)
                .distinct()
                .toArray(String[]::new);
    }

    /** Rows that one version has written are leased by another: these numbers may never change. */
    @Test
    void bucketsOfKeys_areThoseOfAllVersions() {
        assertThat(OutboxEvent.BUCKETS).isEqualTo(256);
        assertThat(bucket("customer-1")).isEqualTo(232);
        assertThat(bucket("customer-2")).isEqualTo(118);
        assertThat(bucket("schlüssel")).isEqualTo(219);
        assertThat(OutboxEvent.to("orders")
                        .key("other")
                        .orderingKey("customer-1")
                        .build()
                        .bucket())
                .isEqualTo(232);
    }

    private static int bucket(String key) {
        return OutboxEvent.to("orders").key(key).build().bucket();
    }
}
