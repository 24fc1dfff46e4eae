package dev.idempotency.event;

import dev.idempotency.ConsumerId;
import dev.idempotency.KeyDerivation;
import dev.idempotency.StoreUnavailableException;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.LocatedStore;
import dev.idempotency.spi.ParkedEvent;
import dev.idempotency.spi.ParkedEventStore;
import dev.idempotency.spi.PartitionAssignment;
import dev.idempotency.spi.PartitionOffsetStore;
import dev.idempotency.spi.ProcessedEventStore;
import dev.idempotency.spi.StartedAttemptStore;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Handles deliveries so that each event takes effect once for its consumer; adapters of brokers call it.
 *
 * <p>In one transaction it marks the events, runs the handler for those that are fresh, and moves the offsets as the last
 * statement. When that fails it rolls back and splits the batch until the event at fault stands alone; the events before
 * it are committed, and so are those of other partitions. It never waits other than for the database, never skips an
 * event, and knows nothing of a broker.
 *
 * <p>Instances are immutable and safe for use by many threads; one partition must be processed by one thread at a time.
 *
 * @param <E> the type of event
 */
public final class EventProcessor<E> {
    private final EventTransactions<E> transactions;
    private final TransactionScope scope;
    private final @Nullable StartedAttempts starts;

    private final @Nullable Parking<E> parking;

    private EventProcessor(
            EventTransactions<E> transactions,
            TransactionScope scope,
            @Nullable StartedAttempts starts,
            @Nullable Parking<E> parking) {
        this.transactions = transactions;
        this.scope = scope;
        this.starts = starts;
        this.parking = parking;
    }

    /**
     * Returns a builder with the default of every option.
     *
     * @param <E> the type of event
     * @return a new builder
     */
    public static <E> Builder<E> builder() {
        return new Builder<>();
    }

    /**
     * Tells by what duplicates are recognised.
     *
     * @return the deduplication in force
     */
    public Deduplication deduplication() {
        return transactions.deduplication();
    }

    /**
     * Takes partitions over for this consumer; call it when the broker has assigned them, when one was fenced and is
     * still assigned, and when the outcome of a commit is unknown.
     *
     * @param partitions the partitions, without repeats
     * @param owner a name of this process, for people
     * @return one assignment for each; without offsets in the store one that fences nothing and names no offset
     * @throws dev.idempotency.StoreConflictException if a former owner's transaction did not end in time: try again later
     * @throws StoreUnavailableException if the store cannot be reached: try again later
     */
    public List<PartitionAssignment> assign(Collection<EventPartition> partitions, String owner) {
        PartitionOffsetStore offsets = transactions.offsets();
        if (offsets != null) {
            return offsets.assign(transactions.consumer(), partitions, owner);
        }
        return partitions.stream()
                .map(partition -> new PartitionAssignment(partition, 0, null))
                .toList();
    }

    /**
     * Handles what was delivered, as far as it can be handled now.
     *
     * @param deliveries what was delivered of each partition, at most one entry for each
     * @param proceed asked before each transaction; false ends the processing with what has been committed so far
     * @return what has become of the deliveries
     */
    public ProcessingResult<E> process(Collection<PartitionDeliveries<E>> deliveries, BooleanSupplier proceed) {
        Batch<E> batch = new Batch<>(deliveries, scope == TransactionScope.PER_BATCH);
        List<Item<E>> segment = batch.next();
        while (!segment.isEmpty() && proceed.getAsBoolean()) {
            batch.settle(segment, attempt(segment, batch));
            segment = batch.next();
        }
        return batch.result();
    }

    /**
     * Handles events again that were delivered before, by their marks alone: no offset is moved or asked for.
     *
     * <p>What is marked is passed over; what is not is handled now, whatever has become of it before.
     *
     * @param deliveries what was delivered of each partition, at most one entry for each; the epochs do not count
     * @param proceed asked before each transaction; false ends the processing with what has been committed so far
     * @return what has become of the deliveries
     * @throws IllegalStateException if events are not marked, so that all of them would be handled again
     */
    public ProcessingResult<E> processAgain(Collection<PartitionDeliveries<E>> deliveries, BooleanSupplier proceed) {
        if (!transactions.deduplication().byEventId()) {
            throw new IllegalStateException("The deduplication " + transactions.deduplication()
                    + " has no marks, so every event would be handled again: use "
                    + Deduplication.EVENT_ID_AND_OFFSET + " or " + Deduplication.EVENT_ID);
        }
        EventTransactions<E> byMarksAlone = transactions.withoutOffsets();
        Batch<E> batch = new Batch<>(deliveries, scope == TransactionScope.PER_BATCH);
        List<Item<E>> segment = batch.next();
        while (!segment.isEmpty() && proceed.getAsBoolean()) {
            batch.settle(segment, byMarksAlone.handle(segment, batch.from()));
            segment = batch.next();
        }
        return batch.result();
    }

    /**
     * Moves a partition to an offset that somebody else has decided on, an operator for instance, forwards or backwards.
     * Events behind it that are marked stay processed.
     *
     * @param assignment the right to advance the partition, with the offset where it is now
     * @param offset the next offset, 0 or more
     * @return the progress, or why there is none
     */
    public ProcessingResult<E> moveTo(PartitionAssignment assignment, long offset) {
        return transactions.moveTo(assignment, offset);
    }

    /**
     * Lists parked events of this consumer, in order of partition and offset.
     *
     * @param limit the most events to return, 1 to 1,000
     * @return the first of them
     * @throws IllegalStateException if the store cannot park
     * @throws StoreUnavailableException if the store cannot be reached
     */
    public List<ParkedEvent> findParked(int limit) {
        return parking().store().findParked(transactions.consumer(), null, limit);
    }

    /**
     * Lists the parked events of this consumer that come behind another one, for the next page.
     *
     * @param last the last event of the page before, whether it is still parked or not
     * @param limit the most events to return, 1 to 1,000
     * @return the first of those behind it
     * @throws IllegalStateException if the store cannot park
     * @throws StoreUnavailableException if the store cannot be reached
     */
    public List<ParkedEvent> findParkedAfter(ParkedEvent last, int limit) {
        return parking().store().findParked(transactions.consumer(), Objects.requireNonNull(last, "last"), limit);
    }

    /**
     * Lists the keys of the events that are parked in one partition.
     *
     * @param partition the partition
     * @param limit the most keys to return, 1 to 1,000
     * @return some of them, each once; all if they are fewer than the limit
     * @throws IllegalStateException if the store cannot park
     * @throws StoreUnavailableException if the store cannot be reached
     */
    public List<byte[]> findParkedKeys(EventPartition partition, int limit) {
        return parking().store().findParkedKeys(transactions.consumer(), partition, limit);
    }

    /**
     * Handles a parked event under its id, and removes it in the same transaction; call it from any thread but inside no
     * transaction.
     *
     * @param partition where the event stood
     * @param offset where the event stood in it
     * @param decode makes of a parked event what the handler gets
     * @return what it came to; unless the event was handled, now or before, it stays parked
     * @throws IllegalStateException if the store cannot park
     */
    public ReplayOutcome replay(EventPartition partition, long offset, Function<ParkedEvent, ? extends E> decode) {
        return parking().replay(partition, offset, decode);
    }

    private Parking<E> parking() {
        if (parking == null) {
            throw new IllegalStateException(
                    "The store " + transactions.store().getClass().getName() + " cannot park events: use one that is a "
                            + ParkedEventStore.class.getSimpleName());
        }
        return parking;
    }

    /**
     * Sets an event aside and moves its partition past it, in one transaction; it is not marked. With {@link
     * Builder#deadLetters} its dead letter is written in that transaction too.
     *
     * @param assignment the right to advance the partition, with the offset from which it is advanced now
     * @param event the event, which stands at that offset
     * @param next the partition's next offset
     * @return the progress, or why there is none; never {@link ProcessingFailure.HandlerFailed}
     * @throws IllegalStateException if the store cannot park
     */
    public ProcessingResult<E> park(PartitionAssignment assignment, ParkedEvent event, long next) {
        return parking().park(assignment, event, next);
    }

    /**
     * As {@link #park}, if an earlier event of the same key is parked in the partition: so that it waits for its turn.
     *
     * @param assignment the right to advance the partition, with the offset from which it is advanced now
     * @param event the event, which stands at that offset and has a key
     * @param next the partition's next offset
     * @return the progress; without progress and without failures no such event is parked any more, and this one may be
     *     handled
     * @throws IllegalStateException if the store cannot park
     * @throws IllegalArgumentException if the event has no key
     */
    public ProcessingResult<E> parkBehind(PartitionAssignment assignment, ParkedEvent event, long next) {
        byte[] key = event.key();
        if (key == null) {
            throw new IllegalArgumentException("An event without a key waits behind no other: " + event);
        }
        return parking().parkBehind(assignment, event, key, next);
    }

    /** A suspect event stands alone in its segment; that it is begun is written down before, lest it ends this process. */
    private Attempt<E> attempt(List<Item<E>> segment, Batch<E> batch) {
        Item<E> first = segment.get(0);
        if (starts == null || !first.assignment().suspect()) {
            return transactions.handle(segment, batch.from());
        }
        Attempt<E> refused = starts.begin(first);
        if (refused != null) {
            return refused;
        }
        Attempt<E> attempt = transactions.handle(segment, batch.from());
        starts.end(first, attempt);
        return attempt;
    }

    /**
     * Collects the options of an {@link EventProcessor}. Not thread-safe.
     *
     * @param <E> the type of event
     */
    public static final class Builder<E> {
        private @Nullable ConsumerId consumer;
        private @Nullable ProcessedEventStore store;
        private @Nullable TransactionRunner transactions;
        private @Nullable TransactionScope scope;
        private @Nullable EventBatchHandler<E> handler;
        private boolean oneByOne;
        private @Nullable Deduplication deduplication;
        private @Nullable KeyDerivation keys;
        private TransactionLimits limits = TransactionLimits.ofDefaults();
        private int maxConflicts = 5;
        private int maxStarts = 3;
        private @Nullable DeadLetters deadLetters;
        private boolean keepsKeyOrder;
        private ProcessingListener listener = report -> {};

        private Builder() {}

        /**
         * Sets the consumer. Required.
         *
         * @param consumer the consumer's explicit, stable name
         * @return this builder
         */
        public Builder<E> consumer(ConsumerId consumer) {
            this.consumer = Objects.requireNonNull(consumer, "consumer");
            return this;
        }

        /**
         * Sets where marks, offsets and parked events are kept. Required.
         *
         * @param store the store
         * @return this builder
         */
        public Builder<E> store(ProcessedEventStore store) {
            this.store = Objects.requireNonNull(store, "store");
            return this;
        }

        /**
         * Sets what opens and ends transactions. Required; it must use the database of the store.
         *
         * @param transactions the runner
         * @return this builder
         */
        public Builder<E> transactions(TransactionRunner transactions) {
            this.transactions = Objects.requireNonNull(transactions, "transactions");
            return this;
        }

        /**
         * Sets what is done about each event. This or {@link #batchHandler} is required.
         *
         * @param scope how much one transaction holds: does the handler touch anything outside the database?
         * @param handler the handler
         * @return this builder
         */
        public Builder<E> handler(TransactionScope scope, EventHandler<? super E> handler) {
            Objects.requireNonNull(handler, "handler");
            this.scope = Objects.requireNonNull(scope, "scope");
            this.oneByOne = true;
            this.handler = (events, transaction) ->
                    handler.handle(events.get(0).payload(), events.get(0).context());
            return this;
        }

        /**
         * Sets what is done about the events of one batch together, in one transaction, inside the database only.
         *
         * @param handler the handler
         * @return this builder
         */
        public Builder<E> batchHandler(EventBatchHandler<E> handler) {
            this.handler = Objects.requireNonNull(handler, "handler");
            this.scope = TransactionScope.PER_BATCH;
            this.oneByOne = false;
            return this;
        }

        /**
         * Sets by what duplicates are recognised.
         *
         * @param deduplication both by default, or event ids alone where the store keeps no offsets
         * @return this builder
         */
        public Builder<E> deduplication(Deduplication deduplication) {
            this.deduplication = Objects.requireNonNull(deduplication, "deduplication");
            return this;
        }

        /**
         * Sets how the keys of outgoing calls are derived.
         *
         * @param keys the application's derivation; by default one under the consumer's name
         * @return this builder
         */
        public Builder<E> keys(KeyDerivation keys) {
            this.keys = Objects.requireNonNull(keys, "keys");
            return this;
        }

        /**
         * Sets the bounds of waits in the transactions.
         *
         * @param limits the bounds; {@link TransactionLimits#ofDefaults()} by default
         * @return this builder
         */
        public Builder<E> limits(TransactionLimits limits) {
            this.limits = Objects.requireNonNull(limits, "limits");
            return this;
        }

        /**
         * Sets how often a transaction that keeps losing against concurrent ones is run before that is reported.
         *
         * @param maxConflicts 1 to 100; 5 by default
         * @return this builder
         */
        public Builder<E> maxConflicts(int maxConflicts) {
            this.maxConflicts = maxConflicts;
            return this;
        }

        /**
         * Sets how many attempts at an event may be started without any of them telling how it ended, before the event is
         * taken for one that ends its process. It works with a store that is a {@link StartedAttemptStore}.
         *
         * @param maxStarts 1 to 1,000; 3 by default
         * @return this builder
         */
        public Builder<E> maxStarts(int maxStarts) {
            this.maxStarts = maxStarts;
            return this;
        }

        /**
         * Sets how parked events are announced.
         *
         * @param deadLetters the dead letters, in an outbox of the store's database; none by default
         * @return this builder
         */
        public Builder<E> deadLetters(DeadLetters deadLetters) {
            this.deadLetters = Objects.requireNonNull(deadLetters, "deadLetters");
            return this;
        }

        /**
         * Makes replays keep the order of each key: a parked event is not replayed before the earlier ones of its key in its
         * partition. Whoever delivers asks {@link EventProcessor#parkBehind} for the later ones.
         *
         * @return this builder
         */
        public Builder<E> keepKeyOrder() {
            this.keepsKeyOrder = true;
            return this;
        }

        /**
         * Sets who is told how each transaction went.
         *
         * @param listener the listener; none by default
         * @return this builder
         */
        public Builder<E> listener(ProcessingListener listener) {
            this.listener = Objects.requireNonNull(listener, "listener");
            return this;
        }

        /**
         * Checks the options, makes the consumer known to the store, and looks whether the transactions are those of the
         * store's database, as far as store and outbox can tell.
         *
         * @return the processor
         * @throws IllegalStateException if a required option is missing, the store cannot do what the deduplication
         *     needs, or store, outbox of dead letters and transactions do not share one database
         * @throws IllegalArgumentException if an option is out of range
         * @throws StoreUnavailableException if the store cannot be reached
         */
        public EventProcessor<E> build() {
            if (maxConflicts < 1 || maxConflicts > 100) {
                throw new IllegalArgumentException("maxConflicts must be 1 to 100, but is " + maxConflicts);
            }
            if (maxStarts < 1 || maxStarts > 1_000) {
                throw new IllegalArgumentException("maxStarts must be 1 to 1000, but is " + maxStarts);
            }
            ConsumerId theConsumer = require("consumer", consumer);
            ProcessedEventStore theStore = require("store", store);
            Deduplication theDeduplication = deduplication != null
                    ? deduplication
                    : theStore instanceof PartitionOffsetStore
                            ? Deduplication.EVENT_ID_AND_OFFSET
                            : Deduplication.EVENT_ID;
            PartitionOffsetStore offsets =
                    theDeduplication.byOffset() ? requireOffsets(theStore, theDeduplication) : null;
            EventTransactions<E> all = new EventTransactions<>(
                    theConsumer,
                    theStore,
                    offsets,
                    require("transactions", transactions),
                    require("handler or batchHandler", handler),
                    oneByOne,
                    theDeduplication,
                    keys != null ? keys : KeyDerivation.of(theConsumer.value()),
                    limits,
                    maxConflicts,
                    new TransactionReports(theConsumer, listener));
            StartedAttempts starts = offsets instanceof StartedAttemptStore counting
                    ? new StartedAttempts(counting, theConsumer, maxStarts)
                    : null;
            Parking<E> parking = theStore instanceof ParkedEventStore parkedEvents
                    ? new Parking<>(all, parkedEvents, deadLetters, keepsKeyOrder)
                    : null;
            theStore.register(theConsumer);
            requireOneDatabase(theStore, all.transactions());
            return new EventProcessor<>(all, require("handler or batchHandler", scope), starts, parking);
        }

        private void requireOneDatabase(ProcessedEventStore theStore, TransactionRunner runner) {
            requireDatabaseOf(theStore, "store", runner);
            if (deadLetters != null) {
                requireDatabaseOf(deadLetters.outbox(), "outbox of the dead letters", runner);
            }
        }

        /** In another database its rows would be committed alone, or not at all. */
        private void requireDatabaseOf(Object part, String name, TransactionRunner runner) {
            if (!(part instanceof LocatedStore located)) {
                return;
            }
            String own = located.location();
            String found = runner.run(limits, transaction -> located.location(transaction));
            if (!found.equals(own)) {
                throw new IllegalStateException(
                        "The " + name + " and the transactions use different databases, so nothing"
                                + " would be committed together: the " + name + " is at [" + own
                                + "], the transactions are at [" + found + "]. Give both the same data source");
            }
        }

        private static PartitionOffsetStore requireOffsets(ProcessedEventStore store, Deduplication deduplication) {
            if (store instanceof PartitionOffsetStore offsets) {
                return offsets;
            }
            throw new IllegalStateException("The deduplication " + deduplication + " needs a store that is a "
                    + PartitionOffsetStore.class.getSimpleName() + ", but "
                    + store.getClass().getName()
                    + " is none: use another store or " + Deduplication.EVENT_ID);
        }

        private static <T> T require(String option, @Nullable T value) {
            if (value == null) {
                throw new IllegalStateException("The option " + option + " is required");
            }
            return value;
        }
    }
}
