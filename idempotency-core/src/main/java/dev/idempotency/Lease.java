package dev.idempotency;

import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** What the owner knows of its lease: certain until a moment counted from before the last successful extension. */
final class Lease {
    private final NanoTicker ticker;
    private final AtomicBoolean lost = new AtomicBoolean();
    private volatile long validUntilNanos;
    private volatile boolean stopped;
    private volatile @Nullable Future<?> beat;

    Lease(NanoTicker ticker, long validUntilNanos) {
        this.ticker = ticker;
        this.validUntilNanos = validUntilNanos;
    }

    boolean isValid() {
        return !lost.get() && ticker.nanoTime() - validUntilNanos < 0;
    }

    void extendedUntil(long nanos) {
        validUntilNanos = nanos;
    }

    void lose() {
        lost.set(true);
    }

    void beatWith(Future<?> future) {
        beat = future;
    }

    boolean isStopped() {
        return stopped;
    }

    /** Ends the heartbeat; a beat that is under way finishes. */
    void stop() {
        stopped = true;
        Future<?> current = beat;
        if (current != null) {
            current.cancel(false);
        }
    }
}
