package dev.idempotency.outbox;

import dev.idempotency.spi.ClaimingOutboxStore;
import dev.idempotency.spi.OutboxPublisher;
import dev.idempotency.spi.PublishedRows;
import java.time.Duration;
import java.util.Objects;

/**
 * Collects the options of a relay that claims row by row; made by {@link OutboxRelay#claiming}. Such relays keep no
 * order, so there is no option for one.
 */
public final class ClaimRelayBuilder extends RelayBuilder<ClaimRelayBuilder> {
    private final ClaimingOutboxStore store;

    ClaimRelayBuilder(ClaimingOutboxStore store, OutboxPublisher publisher) {
        super(publisher, 500, PublishedRows.KEEP);
        this.store = Objects.requireNonNull(store, "store");
    }

    /**
     * Sets how long a claim lasts; 30 s by default. After a crash the claimed events wait that long.
     *
     * @param duration 1 s to 24 h, longer than the publisher's delivery timeout and 2 s
     * @return this builder
     * @throws IllegalArgumentException if it is out of range
     */
    public ClaimRelayBuilder lease(Duration duration) {
        setLease(duration);
        return this;
    }

    @Override
    public OutboxRelay build() {
        requireNoRanges();
        RelaySettings settings = settings(Ordering.NONE);
        EventsInFlight inFlight = new EventsInFlight(settings.mostInFlight(), settings.mostBytesInFlight());
        return new OutboxRelay(
                settings, nudge -> new ClaimSource(store, settings, inFlight), publisher, inFlight, shutdown());
    }

    @Override
    ClaimRelayBuilder self() {
        return this;
    }
}
