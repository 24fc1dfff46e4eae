package dev.idempotency.event;

import dev.idempotency.ConsumerId;
import dev.idempotency.KeyDerivation;
import dev.idempotency.StoreUnavailableException;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.Marks;
import dev.idempotency.spi.OffsetAdvance;
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
import java.util.Map;
import java.util.Objects;
import java.util.Set;
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

    private final @Nullable DeadLetters deadLetters;

    private EventProcessor(
            EventTransactions<E> transactions,
            TransactionScope scope,
            @Nullable StartedAttempts starts,
            @Nullable DeadLetters deadLetters) {
        this.transactions = transactions;
        this.scope = scope;
        this.starts = starts;
        this.deadLetters = deadLetters;
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
     * Lists parked events of this consumer, in order of partition and offset.
     *
     * @param limit the most events to return, 1 to 1,000
     * @return the first of them
     * @throws IllegalStateException if the store cannot park
     * @throws StoreUnavailableException if the store cannot be reached
     */
    public List<ParkedEvent> findParked(int limit) {
        return parkedEvents().findParked(transactions.consumer(), limit);
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
        return transactions.replay(parkedEvents(), partition, offset, decode);
    }

    private ParkedEventStore parkedEvents() {
        if (transactions.store() instanceof ParkedEventStore parkedEvents) {
            return parkedEvents;
        }
        throw new IllegalStateException(
                "The store " + transactions.store().getClass().getName() + " cannot park events: use one that is a "
                        + ParkedEventStore.class.getSimpleName());
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
        ParkedEventStore store = parkedEvents();
        EventPartition partition = assignment.partition();
        OffsetAdvance advance = new OffsetAdvance(partition, assignment.epoch(), assignment.nextOffset(), next);
        Attempt<E> attempt = transactions.run(Set.of(partition), (transaction, progress) -> {
            Marks marks = store.mark(transaction, transactions.consumer(), List.of());
            store.park(transaction, transactions.consumer(), event);
            if (deadLetters != null) {
                deadLetters.append(transaction, transactions.consumer(), event);
            }
            return transactions.advance(transaction, marks, List.of(advance), new Attempt.Committed<>(0, 0));
        });
        if (attempt instanceof Attempt.Committed<E>) {
            return new ProcessingResult<>(Map.of(partition, next), 0, 0, List.of());
        }
        ProcessingFailure<E> failure = attempt instanceof Attempt.Ended<E> ended
                ? ended.failure()
                : new ProcessingFailure.Unavailable<>(((Attempt.Failed<E>) attempt).cause());
        return new ProcessingResult<>(Map.of(), 0, 0, List.of(failure));
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
         * Checks the options and makes the consumer known to the store.
         *
         * @return the processor
         * @throws IllegalStateException if a required option is missing, or the store cannot do what the deduplication
         *     needs
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
                    maxConflicts);
            StartedAttempts starts = offsets instanceof StartedAttemptStore counting
                    ? new StartedAttempts(counting, theConsumer, maxStarts)
                    : null;
            theStore.register(theConsumer);
            return new EventProcessor<>(all, require("handler or batchHandler", scope), starts, deadLetters);
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
