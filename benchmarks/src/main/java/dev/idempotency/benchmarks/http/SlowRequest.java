package dev.idempotency.benchmarks.http;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A request that takes its time, and somebody who watches it. Safe for use by many threads. */
final class SlowRequest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Duration length;
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch never = new CountDownLatch(1);

    SlowRequest(Duration length) {
        this.length = length;
    }

    /** Takes its time; nobody ends it early. */
    void work() throws InterruptedException {
        begun.countDown();
        boolean ended = never.await(length.toNanos(), TimeUnit.NANOSECONDS);
        assert !ended;
    }

    void awaitBegun() throws InterruptedException {
        if (!begun.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException("The slow request did not reach the servlet within " + PATIENCE);
        }
    }
}
