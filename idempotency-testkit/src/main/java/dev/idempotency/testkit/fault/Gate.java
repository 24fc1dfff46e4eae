package dev.idempotency.testkit.fault;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Holds every thread that passes until a test opens it, and tells the test when the first one has come: the way to make
 * two threads meet at a point without sleeping.
 *
 * <p>Safe for use by many threads. Once open it stays open.
 */
public final class Gate {
    private static final Duration LONGEST_HOLD = Duration.ofMinutes(2);

    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch open = new CountDownLatch(1);

    /** Creates a closed gate. */
    public Gate() {}

    /**
     * Waits here until the gate is open; at most 2 minutes, so that a test that fails does not hang.
     *
     * @throws IllegalStateException if nobody opens it or the thread is interrupted
     */
    public void pass() {
        reached.countDown();
        if (!await(open, LONGEST_HOLD)) {
            throw new IllegalStateException("Nobody opened the gate within " + LONGEST_HOLD);
        }
    }

    /**
     * Waits until a thread has come to the gate.
     *
     * @param deadline how long to wait at most
     * @throws AssertionError if none comes in time
     */
    public void awaitReached(Duration deadline) {
        if (!await(reached, deadline)) {
            throw new AssertionError("No thread came to the gate within " + deadline);
        }
    }

    /** Lets everybody pass, now and later. */
    public void open() {
        open.countDown();
    }

    private static boolean await(CountDownLatch latch, Duration deadline) {
        try {
            return latch.await(deadline.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted at a gate", interrupt);
        }
    }
}
