package dev.idempotency.benchmarks.kafka;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Times a consumer from the first record that it gets to the last that it handles, so that joining the group is left out.
 * Told by the consumer's thread, asked by another.
 */
final class Progress {
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    private final int expected;
    private final CountDownLatch done = new CountDownLatch(1);
    private int handled;
    private boolean begun;
    private volatile long beginNanos;
    private volatile long endNanos;

    Progress(int expected) {
        this.expected = expected;
    }

    void arrived() {
        if (!begun) {
            begun = true;
            beginNanos = System.nanoTime();
        }
    }

    void handled(int records) {
        handled += records;
        if (handled >= expected) {
            endNanos = System.nanoTime();
            done.countDown();
        }
    }

    boolean isDone() {
        return done.getCount() == 0;
    }

    double awaitSeconds() throws InterruptedException {
        if (!done.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException("The consumer did not handle " + expected + " records within " + PATIENCE);
        }
        return (endNanos - beginNanos) / 1e9;
    }
}
