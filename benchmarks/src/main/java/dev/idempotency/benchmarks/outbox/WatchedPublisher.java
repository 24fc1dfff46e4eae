package dev.idempotency.benchmarks.outbox;

import dev.idempotency.spi.OutboxPublisher;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.PublishCallback;
import dev.idempotency.spi.PublishOutcome;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Tells when so many events have been acknowledged. Safe for use by many threads. */
final class WatchedPublisher implements OutboxPublisher {
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    private final OutboxPublisher publisher;
    private final Acknowledged acknowledged;
    private final CountDownLatch left;
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    /** Told of each acknowledged event. */
    @FunctionalInterface
    interface Acknowledged {
        void event(UUID id);
    }

    WatchedPublisher(OutboxPublisher publisher, int events, Acknowledged acknowledged) {
        this.publisher = publisher;
        this.acknowledged = acknowledged;
        this.left = new CountDownLatch(events);
    }

    /** Waits for all events. */
    void await() throws InterruptedException {
        if (!left.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException(left.getCount() + " events were not acknowledged within " + PATIENCE);
        }
        Throwable failed = failure.get();
        if (failed != null) {
            throw new IllegalStateException("An event was not acknowledged, so this run is no measurement", failed);
        }
    }

    @Override
    public void publish(OutboxRow row, PublishCallback callback) {
        publisher.publish(row, (published, outcome) -> {
            if (outcome instanceof PublishOutcome.Failed failed) {
                failure.compareAndSet(null, failed.cause());
            } else {
                acknowledged.event(published.eventId());
                left.countDown();
            }
            callback.completed(published, outcome);
        });
    }

    @Override
    public Duration deliveryTimeout() {
        return publisher.deliveryTimeout();
    }

    @Override
    public void recover() {
        publisher.recover();
    }

    @Override
    public void close() {
        publisher.close();
    }
}
