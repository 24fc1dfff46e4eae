package dev.idempotency.shutdown;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The monotonic clock and the waits that depend on it, so that tests can move time by hand. */
interface TimeSource {
    TimeSource SYSTEM = new TimeSource() {
        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public boolean await(CountDownLatch latch, long untilNanos) throws InterruptedException {
            return latch.await(untilNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
        }
    };

    /** Returns the current value of the monotonic clock; only differences mean something. */
    long nanoTime();

    /** Waits for the latch and returns true, or returns false when {@link #nanoTime()} has reached the instant. */
    boolean await(CountDownLatch latch, long untilNanos) throws InterruptedException;

    /** As {@link #await}, but an interrupt does not end the wait: it is kept for the caller. */
    default boolean awaitUninterruptibly(CountDownLatch latch, long untilNanos) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return await(latch, untilNanos);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
