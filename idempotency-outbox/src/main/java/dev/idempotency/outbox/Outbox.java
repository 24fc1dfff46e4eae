package dev.idempotency.outbox;

import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.OutboxStore;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionContext;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes events into the transaction that causes them; applications call it inside their business transactions.
 *
 * <p>The events are published if and only if the transaction commits, by an {@link OutboxRelay} in this process or in
 * another. A crash at any point loses none; one may be published twice, with the same id both times.
 *
 * <pre>{@code
 * runner.run(limits, transaction -> {
 *     orders.insert(transaction.unwrap(Connection.class), order);
 *     return outbox.append(transaction, OutboxEvent.to("orders").key(order.id()).payload(order.json()).build());
 * });
 * }</pre>
 *
 * <p>Instances are immutable and safe for use by many threads.
 */
public final class Outbox {
    /** Below the 1,048,588 bytes that a broker takes by default, with room for its own framing. */
    private static final int DEFAULT_LARGEST_EVENT = 1_000_000;

    private static final Logger log = LoggerFactory.getLogger(Outbox.class);

    private final OutboxStore store;
    private final Ordering ordering;
    private final int largestEventBytes;
    private final Runnable afterCommit;
    private final TraceContext traceContext;
    private final TimeOrderedIds ids;

    private Outbox(Builder builder) {
        this.store = builder.store;
        this.ordering = builder.ordering;
        this.largestEventBytes = builder.largestEventBytes;
        this.afterCommit = builder.afterCommit;
        this.traceContext = new TraceContext(builder.traceHeaders);
        this.ids = new TimeOrderedIds(builder.clock);
    }

    /**
     * Returns an outbox with the default of every option.
     *
     * @param store where the events are kept
     * @return the outbox
     */
    public static Outbox of(OutboxStore store) {
        return builder(store).build();
    }

    /**
     * Returns a builder with the default of every option.
     *
     * @param store where the events are kept
     * @return a new builder
     */
    public static Builder builder(OutboxStore store) {
        return new Builder(store);
    }

    /**
     * Writes one event into the transaction.
     *
     * <p>An event whose given id is in the outbox already, with the same topic, key and payload, is not written again:
     * a business transaction that is repeated because nobody knows whether it committed schedules it once.
     *
     * @param transaction the business transaction: one of a {@link dev.idempotency.transaction.TransactionRunner}, or
     *     {@link dev.idempotency.transaction.JoinedTransaction} around the caller's own connection
     * @param event what to publish
     * @return the event's id, drawn here if it had none
     * @throws IllegalArgumentException if the event is too large, or has no key where this outbox keeps order; nothing
     *     was written
     * @throws IllegalStateException if the connection is in autocommit, so that there is no transaction; nothing was
     *     written
     * @throws dev.idempotency.StoreException if the statement failed for good, or the id is in the outbox for a
     *     different event; the transaction must be rolled back
     * @throws dev.idempotency.StoreConflictException if a concurrent transaction won; the transaction must be rolled
     *     back and may be repeated
     * @throws dev.idempotency.StoreUnavailableException if the connection is lost
     */
    public UUID append(TransactionContext transaction, OutboxEvent event) {
        return appendAll(transaction, List.of(event)).get(0);
    }

    /**
     * Writes events into the transaction, in the order given and with one statement.
     *
     * @param transaction as in {@link #append}
     * @param events what to publish; nothing happens if there is none
     * @return the events' ids, in the order of the events
     * @throws IllegalArgumentException as in {@link #append}, also if two events have one id; nothing was written
     * @throws IllegalStateException as in {@link #append}
     * @throws dev.idempotency.StoreException as in {@link #append}
     * @throws dev.idempotency.StoreConflictException as in {@link #append}
     * @throws dev.idempotency.StoreUnavailableException as in {@link #append}
     */
    public List<UUID> appendAll(TransactionContext transaction, List<OutboxEvent> events) {
        Objects.requireNonNull(transaction, "transaction");
        if (events.isEmpty()) {
            return List.of();
        }
        List<OutboxEvent> identified = new ArrayList<>(events.size());
        List<UUID> eventIds = new ArrayList<>(events.size());
        Set<UUID> seen = new HashSet<>();
        boolean allDrawn = true;
        Map<String, String> trace = traceContext.headers();
        for (OutboxEvent given : events) {
            check(given);
            OutboxEvent event = traced(trace, given);
            allDrawn &= event.eventId().isEmpty();
            UUID id = event.eventId().orElseGet(ids::next);
            if (!seen.add(id)) {
                throw new IllegalArgumentException(
                        "Two of the events to append have the id " + id + ": each event needs an id of its own");
            }
            eventIds.add(id);
            identified.add(event.withEventId(id));
        }
        if (allDrawn) {
            store.appendNew(transaction, identified);
        } else {
            Set<UUID> known = store.append(transaction, identified);
            if (!known.isEmpty()) {
                log.debug("Not scheduled again, because the outbox has them already: {}", known);
            }
        }
        if (transaction instanceof Transaction own) {
            own.afterCommit(afterCommit);
        }
        return List.copyOf(eventIds);
    }

    /** With its trace, unless that would make it too large: a trace must not cost the business transaction. */
    private OutboxEvent traced(Map<String, String> trace, OutboxEvent event) {
        OutboxEvent traced = TraceContext.added(trace, event);
        return traced.sizeBytes() > largestEventBytes ? event : traced;
    }

    private void check(OutboxEvent event) {
        long size = event.sizeBytes();
        if (size > largestEventBytes) {
            throw new IllegalArgumentException("The event for " + event.topic() + " has " + size
                    + " bytes, but this outbox takes at most " + largestEventBytes
                    + ": put the content elsewhere and its address into the event, or raise largestEventBytes together"
                    + " with the broker's and the topic's limits");
        }
        if (ordering == Ordering.KEY
                && (!event.isOrdered()
                        || (event.key().isEmpty() && event.partition().isEmpty()))) {
            throw new IllegalArgumentException("The event for " + event.topic() + " has no key, but this outbox keeps"
                    + " the order of keys: give it a key, or an ordering key and a partition");
        }
    }

    /** Collects the options of an {@link Outbox}; made by {@link Outbox#builder}, used by one thread. */
    public static final class Builder {
        private final OutboxStore store;
        private Ordering ordering = Ordering.NONE;
        private int largestEventBytes = DEFAULT_LARGEST_EVENT;
        private Runnable afterCommit = () -> {};
        private Supplier<Map<String, String>> traceHeaders = Map::of;
        private InstantSource clock = InstantSource.system();

        private Builder(OutboxStore store) {
            this.store = Objects.requireNonNull(store, "store");
        }

        /**
         * Says whether the order of keys matters, so that events without a key are refused; {@link Ordering#NONE} by
         * default.
         *
         * @param order {@link Ordering#KEY} where the relay keeps order
         * @return this builder
         */
        public Builder ordering(Ordering order) {
            this.ordering = Objects.requireNonNull(order, "ordering");
            return this;
        }

        /**
         * Bounds the size of key, payload and headers together; 1,000,000 bytes by default.
         *
         * <p>An event that no broker takes is refused here, in the business transaction, and not hours later.
         *
         * @param bytes 1 to 1 GiB
         * @return this builder
         * @throws IllegalArgumentException if it is out of range
         */
        public Builder largestEventBytes(int bytes) {
            if (bytes < 1 || bytes > 1 << 30) {
                throw new IllegalArgumentException(
                        "largestEventBytes must be between 1 and 1,073,741,824, but is " + bytes);
            }
            this.largestEventBytes = bytes;
            return this;
        }

        /**
         * Says what to do after the commit of a transaction that has appended; nothing by default.
         *
         * <p>Usually {@code relay::nudge}, so that a relay in this process sends at once. Called on the transaction's
         * thread, so it must not block. Joined transactions have no such moment: their events wait for the relay's
         * next look.
         *
         * @param action what to do
         * @return this builder
         */
        public Builder afterCommit(Runnable action) {
            this.afterCommit = Objects.requireNonNull(action, "afterCommit");
            return this;
        }

        /**
         * Says where the W3C trace context of the appending thread is found, so that each event carries it as its headers
         * {@code traceparent} and {@code tracestate} and the consumer's trace goes on from the writer's and not from the
         * relay's; none by default.
         *
         * <p>With OpenTelemetry: {@code W3CTraceContextPropagator.getInstance().inject(Context.current(), headers,
         * Map::put)} into a new map. Called once per append, on its thread. Whatever is not well-formed is left out, as the
         * standard asks, and so is what throws or would make an event larger than {@link #largestEventBytes}: a trace must not
         * cost the business transaction. An event that has a header {@code traceparent} of its own keeps both as they are.
         *
         * @param headers returns the headers of the trace under way, by their names in lower case; empty if there is none
         * @return this builder
         */
        public Builder traceContext(Supplier<Map<String, String>> headers) {
            this.traceHeaders = Objects.requireNonNull(headers, "traceContext");
            return this;
        }

        /**
         * Sets the clock from which ids take their time; the system's by default. Nothing else depends on it.
         *
         * @param source the clock
         * @return this builder
         */
        public Builder clock(InstantSource source) {
            this.clock = Objects.requireNonNull(source, "clock");
            return this;
        }

        /**
         * Returns the outbox.
         *
         * @return a new outbox
         */
        public Outbox build() {
            return new Outbox(this);
        }
    }
}
