package dev.idempotency.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Idle relays look less and less often, and not in step. */
class IdlePaceTest {
    private static final Duration SHORTEST = Duration.ofMillis(10);
    private static final Duration LONGEST = Duration.ofSeconds(1);

    @Test
    void idle_waitsTwiceAsLongEachTime_upToTheLongest_andBeginsAgainAfterWork() {
        IdlePace pace = new IdlePace(SHORTEST, LONGEST, () -> 0.5);

        assertThat(millis(pace)).isEqualTo(10);
        assertThat(millis(pace)).isEqualTo(20);
        assertThat(millis(pace)).isEqualTo(40);
        for (int i = 0; i < 100; i++) {
            pace.nextWaitNanos();
        }
        assertThat(millis(pace)).isEqualTo(1_000);
        pace.busy();
        assertThat(millis(pace)).isEqualTo(10);
    }

    @Test
    void idle_twoRelays_doNotLookInStep() {
        AtomicInteger draws = new AtomicInteger();
        IdlePace early = new IdlePace(SHORTEST, LONGEST, () -> 0);
        IdlePace late = new IdlePace(SHORTEST, LONGEST, () -> {
            draws.incrementAndGet();
            return 0.999;
        });

        assertThat(millis(early)).isEqualTo(7);
        assertThat(millis(late)).isEqualTo(12);
        assertThat(draws).hasValue(1);
    }

    private static long millis(IdlePace pace) {
        return Duration.ofNanos(pace.nextWaitNanos()).toMillis();
    }
}
