package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Idempotency;
import dev.idempotency.Protection;
import dev.idempotency.jdbi.JdbiIdempotencyStore;
import dev.idempotency.jdbi.SchemaInstaller;
import java.time.Duration;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class IdempotencyFilterBuilderTest {
    private Idempotency leasedOnly;

    @BeforeAll
    void start() {
        JdbcDataSource h2 = new JdbcDataSource();
        h2.setURL("jdbc:h2:mem:builder;DB_CLOSE_DELAY=-1");
        SchemaInstaller.of(h2).install();
        leasedOnly = Idempotency.builder().leased(JdbiIdempotencyStore.of(h2)).build();
    }

    @AfterAll
    void stop() {
        leasedOnly.close();
    }

    private IdempotencyFilterBuilder builder() {
        return IdempotencyFilter.builder(leasedOnly).protection(Protection.LEASED);
    }

    @Test
    void build_protectionWithoutAStore_isRefusedWithTheCure() {
        assertThatThrownBy(() -> IdempotencyFilter.builder(leasedOnly).build())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("TRANSACTIONAL")
                .hasMessageContaining("LEASED");
        assertThat(builder().build()).isNotNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "HEAD", "OPTIONS", "TRACE"})
    void methods_safeOne_isRefused(String method) {
        assertThatThrownBy(() -> builder().methods("POST", method))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(method);
    }

    @Test
    void options_underWhichNothingWouldBeProtected_areRefused() {
        assertThatThrownBy(() -> builder().methods()).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder().methods("post"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("post");
        assertThatThrownBy(() -> builder().headerName("")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder().headerName("Idempotency-Key:")).isInstanceOf(IllegalArgumentException.class);
        assertThat(builder().methods("PUT", "DELETE").headerName("X-Key").build())
                .isNotNull();
    }

    @Test
    void durations_underWhichEveryRequestWouldFail_areRefused() {
        assertThatThrownBy(() -> builder().retention(Duration.ofMillis(999)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("retention");
        assertThatThrownBy(() -> builder().retention(Duration.ofDays(3661)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder().maxWait(Duration.ofMillis(-1))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder().maxWait(Duration.ofMinutes(11)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(builder()
                        .retention(Duration.ofSeconds(1))
                        .maxWait(Duration.ofMinutes(10))
                        .build())
                .isNotNull();
    }

    @Test
    void keepHeader_setCookie_isRefused() {
        assertThatThrownBy(() -> builder().keepHeader("set-cookie")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void values_outOfTheirRange_areRefused() {
        assertThatThrownBy(() -> builder().replayLimit(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder().replayLimit((16 << 20) + 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder().status(ProblemCode.IN_PROGRESS, 200))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder().problemTypeBase("no uri")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder().problemTypeBase("https://a/\"b"))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new BufferLimits(-1, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new BufferLimits(2, 1)).isInstanceOf(IllegalArgumentException.class);
    }
}
