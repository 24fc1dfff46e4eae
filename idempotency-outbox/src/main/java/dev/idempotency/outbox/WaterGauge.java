package dev.idempotency.outbox;

import dev.idempotency.spi.LowWaterMark;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.OutboxStore;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the low-water mark, advancing it now and then while there is something to gain. Used by the relay's loop.
 *
 * <p>The mark is proven, and still it is not believed for ever: once a minute a look begins at the first row there is. It
 * finds what a backup that was restored beside, a sequence that was set back, or a hand with the right to do so has put
 * below the mark.
 */
final class WaterGauge {
    private static final long INTERVAL_NANOS = Duration.ofMillis(250).toNanos();

    private static final long FULL_LOOK_NANOS = Duration.ofMinutes(1).toNanos();

    private static final Logger log = LoggerFactory.getLogger(WaterGauge.class);

    private final OutboxStore store;
    private final LongSupplier ticker;
    private LowWaterMark mark = LowWaterMark.unknown();
    private boolean worthwhile = true;
    private long lastNanos;
    private long lastFullLookNanos;

    WaterGauge(OutboxStore store, LongSupplier ticker) {
        this.store = store;
        this.ticker = ticker;
        this.lastNanos = ticker.getAsLong() - INTERVAL_NANOS;
        this.lastFullLookNanos = ticker.getAsLong();
    }

    /**
     * Says that rows were read, so that the mark will move.
     *
     * @return true if there was one below the mark, so that nothing is believed any more
     */
    boolean rowsSeen(List<OutboxRow> rows) {
        if (rows.isEmpty()) {
            return false;
        }
        worthwhile = true;
        long first = rows.get(0).sequence();
        if (first >= mark.firstLive()) {
            return false;
        }
        log.warn(
                "Event {} stands in the outbox under the number {}, although everything below {} was finished: all of the"
                        + " outbox is read again. Was a backup restored, or a sequence set back?",
                rows.get(0).eventId(),
                first,
                mark.firstLive());
        reset();
        return true;
    }

    /** Tells, once a minute, that the next look has to begin at the first row there is, and not at the mark. */
    boolean isFullLookDue() {
        long now = ticker.getAsLong();
        if (mark.firstLive() == 0 || now - lastFullLookNanos < FULL_LOOK_NANOS) {
            return false;
        }
        lastFullLookNanos = now;
        return true;
    }

    /** Returns the number at which the next look begins. */
    long begin() {
        long firstLive = read().firstLive();
        return isFullLookDue() ? 0 : firstLive;
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

    void reset() {
        mark = LowWaterMark.unknown();
        worthwhile = true;
    }
}
