package dev.idempotency.outbox;

import dev.idempotency.spi.FencedOutboxPublisher;
import dev.idempotency.spi.LeasedOutboxStore;
import dev.idempotency.spi.OutboxPublisher;
import dev.idempotency.spi.PublishedRows;
import java.time.Duration;
import java.util.Objects;

/** Collects the options of a relay that leases ranges of buckets; made by {@link OutboxRelay#leasing}. */
public final class LeaseRelayBuilder extends RelayBuilder<LeaseRelayBuilder> {
    private final LeasedOutboxStore store;
    private Ordering ordering = Ordering.KEY;

    LeaseRelayBuilder(LeasedOutboxStore store, OutboxPublisher publisher) {
        super(publisher, 1_000, PublishedRows.DELETE);
        this.store = Objects.requireNonNull(store, "store");
    }

    /**
     * Says which order is kept; {@link Ordering#KEY} by default.
     *
     * @param order the order
     * @return this builder
     */
    public LeaseRelayBuilder ordering(Ordering order) {
        this.ordering = Objects.requireNonNull(order, "ordering");
        return this;
    }

    /**
     * Sets how long the lease of a range lasts unless it is renewed; 30 s by default. After a crash the range's events
     * wait that long. It is renewed often enough that there is always time for a delivery left: the less it exceeds one,
     * the more often.
     *
     * @param duration 1 s to 24 h, longer than the publisher's delivery timeout and 2 s
     * @return this builder
     * @throws IllegalArgumentException if it is out of range
     */
    public LeaseRelayBuilder lease(Duration duration) {
        setLease(duration);
        return this;
    }

    @Override
    public OutboxRelay build() {
        RelaySettings settings = settings(ordering);
        EventsInFlight inFlight = new EventsInFlight(settings.mostInFlight(), settings.mostBytesInFlight());
        FencedOutboxPublisher broker = publisher instanceof FencedOutboxPublisher fenced ? fenced : null;
        return new OutboxRelay(
                settings,
                nudge -> new LeaseSource(store, settings, inFlight, broker, nudge),
                publisher,
                inFlight,
                shutdown());
    }

    @Override
    LeaseRelayBuilder self() {
        return this;
    }
}
