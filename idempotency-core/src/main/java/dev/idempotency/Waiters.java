package dev.idempotency;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/**
 * Lets duplicates wait for the attempt that runs: a bounded number of them, for a bounded time, without a connection in
 * hand (rule T9).
 */
final class Waiters {
    private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long LONGEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private final Semaphore places;
    private final NanoTicker ticker;
    private final BooleanSupplier open;

    Waiters(int places, NanoTicker ticker, BooleanSupplier open) {
        this.places = new Semaphore(places);
        this.ticker = ticker;
        this.open = open;
    }

    /** Asks, for the first time and again; throws what the work throws. */
    interface Question<T, X extends Exception> {
        T ask() throws X;
    }

    /**
     * Asks, and asks again with growing pauses while the answer says that the operation is in progress.
     *
     * <p>Ends early with that answer when no place is free, the thread is interrupted (its flag stays set), or the
     * process shuts down.
     */
    <T, X extends Exception> T await(Duration longest, Predicate<T> inProgress, Question<T, X> question) throws X {
        T first = question.ask();
        if (longest.isZero() || !inProgress.test(first) || !places.tryAcquire()) {
            return first;
        }
        try {
            long endNanos = ticker.nanoTime() + longest.toNanos();
            long pauseNanos = FIRST_PAUSE_NANOS;
            T outcome = first;
            while (inProgress.test(outcome)) {
                long leftNanos = endNanos - ticker.nanoTime();
                if (leftNanos <= 0
                        || !open.getAsBoolean()
                        || Thread.currentThread().isInterrupted()) {
                    return outcome;
                }
                long jitterNanos = ThreadLocalRandom.current().nextLong(pauseNanos / 2);
                LockSupport.parkNanos(this, Math.min(pauseNanos + jitterNanos, leftNanos));
                pauseNanos = Math.min(pauseNanos * 2, LONGEST_PAUSE_NANOS);
                outcome = question.ask();
            }
            return outcome;
        } finally {
            places.release();
        }
    }
}
