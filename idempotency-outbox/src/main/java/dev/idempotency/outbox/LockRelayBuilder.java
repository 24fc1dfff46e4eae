package dev.idempotency.outbox;

import dev.idempotency.spi.LockingOutboxStore;
import dev.idempotency.spi.OutboxPublisher;
import dev.idempotency.spi.PublishedRows;
import dev.idempotency.transaction.TransactionRunner;
import java.time.Duration;
import java.util.Objects;

/**
 * Collects the options of a relay that keeps rows locked while they are sent. Such relays keep no order and hold no lease,
 * so there is no option for either; made by {@link OutboxRelay#locking}.
 */
public final class LockRelayBuilder extends RelayBuilder<LockRelayBuilder> {
    /** The longest that a transaction may wait for the broker: all of it the server cannot clean up behind it. */
    private static final Duration LONGEST_DELIVERY = Duration.ofSeconds(10);

    private static final int LARGEST_BATCH = 1_000;

    private final LockingOutboxStore store;
    private final TransactionRunner runner;

    LockRelayBuilder(LockingOutboxStore store, TransactionRunner runner, OutboxPublisher publisher) {
        super(publisher, 100, PublishedRows.KEEP);
        this.store = Objects.requireNonNull(store, "store");
        this.runner = Objects.requireNonNull(runner, "runner");
    }

    /**
     * Returns the relay, not started.
     *
     * @return a new relay
     * @throws IllegalArgumentException if the publisher may take longer than 10 s for an event, or a batch has more than
     *     1,000 rows
     */
    @Override
    public OutboxRelay build() {
        requireNoRanges();
        RelaySettings settings = settings(Ordering.NONE);
        Duration delivery = publisher.deliveryTimeout();
        if (delivery.compareTo(LONGEST_DELIVERY) > 0) {
            throw new IllegalArgumentException(
                    "The publisher's delivery timeout of " + delivery + " is too long: a relay"
                            + " that locks keeps a transaction open for all of it, at most " + LONGEST_DELIVERY
                            + ". Shorten the"
                            + " publisher's timeouts, or relay by leases or claims");
        }
        if (settings.batchSize() > LARGEST_BATCH) {
            throw new IllegalArgumentException(
                    "batchSize must be between 1 and 1,000 for a relay that locks, because its"
                            + " rows stay locked until the last of them is answered, but is " + settings.batchSize());
        }
        EventsInFlight inFlight = new EventsInFlight(settings.mostInFlight(), settings.mostBytesInFlight());
        return new OutboxRelay(
                settings,
                nudge -> new LockSource(store, runner, settings, inFlight, delivery),
                publisher,
                inFlight,
                shutdown());
    }

    @Override
    LockRelayBuilder self() {
        return this;
    }
}
