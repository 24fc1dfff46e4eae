package dev.idempotency.examples.chain;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Waiting as part of the story: a customer thinks, a provider computes. Nothing waits here for something to happen. */
final class Pause {
    private Pause() {}

    static void of(Duration duration) {
        long end = System.nanoTime() + duration.toNanos();
        for (long left = duration.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
            if (Thread.currentThread().isInterrupted()) {
                return;
            }
        }
    }

    static void ofMillis(long millis) {
        of(Duration.ofMillis(millis));
    }
}
