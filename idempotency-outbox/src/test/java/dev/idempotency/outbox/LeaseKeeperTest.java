package dev.idempotency.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LeaseKeeperTest {
    /** There must always be time left to send in, and the usual lease must not cost a query too many. */
    @ParameterizedTest
    @CsvSource({
        "PT5.5S, PT5S, PT0.25S",
        "PT30S, PT24S, PT3S",
        "PT30S, PT3S, PT3S",
        "PT6S, PT3S, PT1.5S",
        "PT6S, PT2.1S, PT1.95S",
        "PT5.01S, PT5S, PT0.1S"
    })
    void renewal_comesBeforeTheTimeToSendIsOver(Duration lease, Duration send, Duration expected) {
        assertThat(Duration.ofNanos(LeaseKeeper.renewalNanos(lease.toNanos(), send.toNanos())))
                .isEqualTo(expected);
    }
}
