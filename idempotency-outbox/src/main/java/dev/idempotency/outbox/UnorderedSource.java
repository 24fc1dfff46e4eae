package dev.idempotency.outbox;

import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.OutboxStore;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What is the same where rows are taken one by one: no row waits for another, nothing is held beyond its batch, and a row that
 * was lost does not come back, because it is in other hands.
 */
abstract class UnorderedSource implements EventSource {
    final RelaySettings settings;
    final EventsInFlight inFlight;
    final WaterGauge gauge;

    UnorderedSource(OutboxStore store, RelaySettings settings, EventsInFlight inFlight) {
        this.settings = settings;
        this.inFlight = inFlight;
        this.gauge = new WaterGauge(store, settings.ticker());
    }

    /** Begins a look for rows. */
    final OutboxQuery query(int limit, Set<String> withoutTopics) {
        OutboxQuery query = new OutboxQuery(gauge.begin(), limit, inFlight.roomBytes(), withoutTopics);
        inFlight.readBegins();
        return query;
    }

    /** Takes note of what a look has found. */
    final void seen(List<OutboxRow> rows, long beginNanos) {
        gauge.rowsSeen(rows);
        settings.listener().read(rows.size(), Duration.ofNanos(settings.ticker().getAsLong() - beginNanos));
    }

    @Override
    public final void start() {}

    /** Each pass asks the store. */
    @Override
    public final @Nullable Throwable failure() {
        return null;
    }

    @Override
    public final boolean isInForce(Batch batch) {
        return true;
    }

    @Override
    public final boolean maySend(OutboxRow row) {
        return true;
    }

    @Override
    public final void failed(Sent event) {}

    @Override
    public final void dead(Sent event) {}

    @Override
    public final void fenced() {}

    @Override
    public final void reset() {
        gauge.reset();
    }

    @Override
    public final void stop(Duration timeout) {}
}
