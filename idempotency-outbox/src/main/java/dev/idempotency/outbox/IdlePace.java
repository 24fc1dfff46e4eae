package dev.idempotency.outbox;

import java.time.Duration;
import java.util.function.DoubleSupplier;

/**
 * How long a relay that found nothing waits before it looks again: twice as long each time, with jitter so that idle
 * relays do not look in step. Used by one thread.
 */
final class IdlePace {
    private final Duration shortest;
    private final Duration longest;
    private final DoubleSupplier random;
    private int idlePasses;

    IdlePace(Duration shortest, Duration longest, DoubleSupplier random) {
        this.shortest = shortest;
        this.longest = longest;
        this.random = random;
    }

    void busy() {
        idlePasses = 0;
    }

    long nextWaitNanos() {
        idlePasses = Math.min(idlePasses + 1, 40);
        long wait = RetryPolicy.exponential(shortest, longest, idlePasses).toNanos();
        return (long) (wait * (0.75 + random.getAsDouble() / 2));
    }
}
