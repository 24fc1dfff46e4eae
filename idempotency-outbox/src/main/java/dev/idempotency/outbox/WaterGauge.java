package dev.idempotency.outbox;

import dev.idempotency.spi.LowWaterMark;
import dev.idempotency.spi.OutboxStore;
import java.time.Duration;
import java.util.function.LongSupplier;

/** Keeps the low-water mark, advancing it now and then while there is something to gain. Used by the relay's loop. */
final class WaterGauge {
    private static final long INTERVAL_NANOS = Duration.ofMillis(250).toNanos();

    private final OutboxStore store;
    private final LongSupplier ticker;
    private LowWaterMark mark = LowWaterMark.unknown();
    private boolean worthwhile = true;
    private long lastNanos;

    WaterGauge(OutboxStore store, LongSupplier ticker) {
        this.store = store;
        this.ticker = ticker;
        this.lastNanos = ticker.getAsLong() - INTERVAL_NANOS;
    }

    /** Says that rows were read, so that the mark will move. */
    void rowsSeen() {
        worthwhile = true;
    }

    LowWaterMark read() {
        long now = ticker.getAsLong();
        if (worthwhile && now - lastNanos >= INTERVAL_NANOS) {
            LowWaterMark next = store.advance(mark);
            // An outbox at rest costs nothing: once the mark stands still, only a row that is read moves it.
            worthwhile = !next.equals(mark);
            mark = next;
            lastNanos = now;
        }
        return mark;
    }

    /** Returns the mark as it was read last. */
    LowWaterMark last() {
        return mark;
    }

    void reset() {
        mark = LowWaterMark.unknown();
        worthwhile = true;
    }
}
