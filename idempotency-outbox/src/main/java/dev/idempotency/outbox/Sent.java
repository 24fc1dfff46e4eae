package dev.idempotency.outbox;

import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.PublishOutcome;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** One event on its way: handed to the publisher, not yet marked. Thread-safe. */
final class Sent {
    private final OutboxRow row;
    private volatile Fence fence;
    private final long bytes;
    private final long sentNanos;
    private final AtomicReference<@Nullable PublishOutcome> outcome = new AtomicReference<>();

    Sent(OutboxRow row, Fence fence, long nowNanos) {
        this.row = row;
        this.sentNanos = nowNanos;
        this.fence = fence;
        this.bytes = row.event().sizeBytes() + 200;
    }

    OutboxRow row() {
        return row;
    }

    Fence fence() {
        return fence;
    }

    /** Goes over to another right: the row was claimed once more, by the same relay, while its mark was still to come. */
    void holdUnder(Fence later) {
        fence = later;
    }

    long bytes() {
        return bytes;
    }

    /** Returns when it was handed over, by the monotonic clock. */
    long sentNanos() {
        return sentNanos;
    }

    /** Takes the outcome and returns true, unless there is one already: a publisher that answers twice changes nothing. */
    boolean complete(PublishOutcome answer) {
        return outcome.compareAndSet(null, answer);
    }

    @Nullable
    PublishOutcome outcome() {
        return outcome.get();
    }

    boolean isFatal() {
        return outcome.get() instanceof PublishOutcome.Failed failed && failed.kind() == PublishOutcome.Kind.FATAL;
    }

    boolean isFailed() {
        return outcome.get() instanceof PublishOutcome.Failed;
    }
}
