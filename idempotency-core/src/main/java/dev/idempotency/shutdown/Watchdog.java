package dev.idempotency.shutdown;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A daemon thread that acts if something has not come to its end in time. It shares no lock with what it guards, and
 * it does not rely on the output it writes: a blocked log or a full pipe delays the act by a bounded time only.
 */
final class Watchdog {
    private static final long WORDS_MILLIS = 100;

    private Watchdog() {}

    /**
     * Starts waiting for the latch.
     *
     * @param lastWords writes what is known; may block
     * @param act runs after it, or after it has blocked for too long
     */
    static void arm(TimeSource time, CountDownLatch guarded, long untilNanos, Runnable lastWords, Runnable act) {
        Threads.daemon("idempotency-shutdown-watchdog", () -> {
                    if (!time.awaitUninterruptibly(guarded, untilNanos)) {
                        try {
                            speak(lastWords);
                        } finally {
                            act.run();
                        }
                    }
                })
                .start();
    }

    private static void speak(Runnable lastWords) {
        CountDownLatch spoken = new CountDownLatch(1);
        Threads.daemon("idempotency-shutdown-last-words", () -> {
                    lastWords.run();
                    spoken.countDown();
                })
                .start();
        TimeSource.SYSTEM.awaitUninterruptibly(
                spoken, TimeSource.SYSTEM.nanoTime() + TimeUnit.MILLISECONDS.toNanos(WORDS_MILLIS));
    }
}
