package dev.idempotency.event;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.KeyDerivation;
import dev.idempotency.StoreUnavailableException;
import dev.idempotency.TransactionLostException;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.Marks;
import dev.idempotency.spi.OffsetAdvance;
import dev.idempotency.spi.ParkedEvent;
import dev.idempotency.spi.ParkedEventStore;
import dev.idempotency.spi.PartitionAssignment;
import dev.idempotency.spi.PartitionOffsetStore;
import dev.idempotency.spi.ProcessedEventStore;
import dev.idempotency.transaction.CommitFailedException;
import dev.idempotency.transaction.OutcomeUnknownException;
import dev.idempotency.transaction.RolledBackException;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
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
    private final ConsumerId consumer;
    private final ProcessedEventStore store;
    private final @Nullable PartitionOffsetStore offsets;
    private final TransactionRunner transactions;
    private final TransactionScope scope;
    private final EventBatchHandler<E> handler;
    private final boolean oneByOne;
    private final Deduplication deduplication;
    private final KeyDerivation keys;
    private final TransactionLimits limits;
    private final int maxConflicts;

    private EventProcessor(Builder<E> builder, Required<E> required) {
        this.consumer = required.consumer();
        this.store = required.store();
        this.offsets = required.offsets();
        this.transactions = required.transactions();
        this.scope = required.scope();
        this.handler = required.handler();
        this.oneByOne = builder.oneByOne;
        this.deduplication = required.deduplication();
        this.keys = builder.keys != null ? builder.keys : KeyDerivation.of(consumer.value());
        this.limits = builder.limits;
        this.maxConflicts = builder.maxConflicts;
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
        return deduplication;
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
        if (offsets != null) {
            return offsets.assign(consumer, partitions, owner);
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
        Batch batch = new Batch();
        List<Item<E>> items = batch.items(deliveries);
        Deque<List<Item<E>>> work = new ArrayDeque<>();
        if (scope == TransactionScope.PER_BATCH) {
            work.add(items);
        } else {
            items.forEach(item -> work.add(List.of(item)));
        }
        while (!work.isEmpty() && !batch.ended && proceed.getAsBoolean()) {
            List<Item<E>> segment = batch.withoutBlocked(work.pop());
            if (!segment.isEmpty()) {
                batch.settle(segment, attempt(segment, batch.from), work);
            }
        }
        return batch.result();
    }

    /**
     * Sets an event aside and moves its partition past it, in one transaction; it is not marked.
     *
     * @param assignment the right to advance the partition, with the offset from which it is advanced now
     * @param event the event, which stands at that offset
     * @param next the partition's next offset
     * @return the progress, or why there is none; never {@link ProcessingFailure.HandlerFailed}
     * @throws IllegalStateException if the store cannot park
     */
    public ProcessingResult<E> park(PartitionAssignment assignment, ParkedEvent event, long next) {
        if (!(store instanceof ParkedEventStore parkedEvents)) {
            throw new IllegalStateException("The store " + store.getClass().getName() + " cannot park events: use one"
                    + " that is a " + ParkedEventStore.class.getSimpleName());
        }
        EventPartition partition = assignment.partition();
        Attempt<E> attempt =
                retryingConflicts(() -> runOnce(Set.of(partition), new Progress(), (transaction, progress) -> {
                    Marks marks = store.mark(transaction, consumer, List.of());
                    parkedEvents.park(transaction, consumer, event);
                    Set<EventPartition> fenced = last(
                            transaction,
                            marks,
                            List.of(new OffsetAdvance(partition, assignment.epoch(), assignment.nextOffset(), next)));
                    return fenced.isEmpty()
                            ? new Committed<>(0, 0)
                            : new Ended<>(new ProcessingFailure.Fenced<>(fenced));
                }));
        if (attempt instanceof Committed<E>) {
            return new ProcessingResult<>(Map.of(partition, next), 0, 0, List.of());
        }
        ProcessingFailure<E> failure = attempt instanceof Ended<E> ended
                ? ended.failure()
                : new ProcessingFailure.Unavailable<>(((Failed<E>) attempt).cause());
        return new ProcessingResult<>(Map.of(), 0, 0, List.of(failure));
    }

    private Attempt<E> attempt(List<Item<E>> segment, Map<EventPartition, @Nullable Long> from) {
        Set<EventPartition> partitions = new HashSet<>();
        segment.forEach(item -> partitions.add(item.partition()));
        List<OffsetAdvance> advances = advances(segment, from);
        return retryingConflicts(() -> runOnce(partitions, new Progress(), (transaction, progress) -> {
            Marks marks = store.mark(transaction, consumer, ids(segment));
            List<Integer> fresh = firstOccurrences(segment, marks);
            progress.phase = Phase.HANDLERS;
            Failed<E> requested = handle(segment, fresh, transaction, progress);
            if (requested != null) {
                return requested;
            }
            progress.index = -1;
            transaction.flush();
            progress.phase = Phase.LAST;
            Set<EventPartition> fenced = last(transaction, marks, advances);
            return fenced.isEmpty()
                    ? new Committed<>(fresh.size(), segment.size() - fresh.size())
                    : new Ended<>(new ProcessingFailure.Fenced<>(fenced));
        }));
    }

    private List<EventId> ids(List<Item<E>> segment) {
        return deduplication.byEventId()
                ? segment.stream().map(item -> item.delivery().id()).toList()
                : List.of();
    }

    /** The indexes of the events to handle: of equal ids in one batch only the first is fresh. */
    private List<Integer> firstOccurrences(List<Item<E>> segment, Marks marks) {
        List<Integer> indexes = new ArrayList<>(segment.size());
        Set<EventId> seen = new HashSet<>();
        for (int i = 0; i < segment.size(); i++) {
            EventId id = segment.get(i).delivery().id();
            if (!deduplication.byEventId() || (marks.fresh().contains(id) && seen.add(id))) {
                indexes.add(i);
            }
        }
        return indexes;
    }

    /** Runs the handler; returns a failure if it asked for a rollback without throwing. */
    private @Nullable Failed<E> handle(
            List<Item<E>> segment, List<Integer> fresh, Transaction transaction, Progress progress) throws Exception {
        if (fresh.isEmpty()) {
            return null;
        }
        if (!oneByOne) {
            List<Event<E>> events = new ArrayList<>(fresh.size());
            fresh.forEach(index -> events.add(event(segment.get(index), transaction)));
            try {
                handler.handle(List.copyOf(events), transaction);
            } catch (FailedEventException e) {
                int position = indexOf(events, e);
                progress.index = position < 0 ? -1 : fresh.get(position);
                throw e;
            }
            return rollbackRequested(transaction, -1);
        }
        for (int index : fresh) {
            progress.index = index;
            handler.handle(List.of(event(segment.get(index), transaction)), transaction);
            Failed<E> requested = rollbackRequested(transaction, index);
            if (requested != null) {
                return requested;
            }
        }
        return null;
    }

    private Event<E> event(Item<E> item, Transaction transaction) {
        Delivery<E> delivery = item.delivery();
        return new Event<>(
                delivery.event(), new HandlerContext(consumer, delivery.id(), transaction, delivery.attempt(), keys));
    }

    private static <E> int indexOf(List<Event<E>> events, FailedEventException failure) {
        for (int i = 0; i < events.size(); i++) {
            if (failure.names(events.get(i))) {
                return i;
            }
        }
        return -1;
    }

    /**
     * A handler that returns normally from a transaction that cannot last: either it asked for the rollback, or it
     * swallowed an error that ended the transaction, which the runner will report with its cause.
     */
    private static <E> @Nullable Failed<E> rollbackRequested(Transaction transaction, int index) {
        return transaction.isRollbackOnly()
                ? new Failed<>(
                        index,
                        new IllegalStateException("The handler returned, but its transaction was marked for rollback:"
                                + " throw an exception to say that the event is not handled"))
                : null;
    }

    private Set<EventPartition> last(Transaction transaction, Marks marks, List<OffsetAdvance> advances) {
        Set<EventPartition> fenced = Set.of();
        if (offsets != null) {
            fenced = offsets.advance(transaction, marks, consumer, advances);
        } else {
            store.confirm(transaction, marks);
        }
        if (!fenced.isEmpty()) {
            transaction.setRollbackOnly();
        }
        return fenced;
    }

    private static <E> List<OffsetAdvance> advances(List<Item<E>> segment, Map<EventPartition, @Nullable Long> from) {
        // Sorted, so that every transaction locks in the same order.
        Map<EventPartition, OffsetAdvance> advances = new TreeMap<>();
        for (Item<E> item : segment) {
            EventPartition partition = item.partition();
            advances.put(
                    partition,
                    new OffsetAdvance(partition, item.assignment().epoch(), from.get(partition), item.next()));
        }
        return List.copyOf(advances.values());
    }

    private Attempt<E> retryingConflicts(Supplier<Attempt<E>> run) {
        for (int conflicts = 1; ; conflicts++) {
            Attempt<E> attempt = run.get();
            if (conflicts >= maxConflicts
                    || !(attempt instanceof Ended<E> ended)
                    || !(ended.failure() instanceof ProcessingFailure.Contended<E>)) {
                return attempt;
            }
        }
    }

    private Attempt<E> runOnce(Set<EventPartition> partitions, Progress progress, Body<E> body) {
        try {
            return transactions.run(limits, transaction -> body.run(transaction, progress));
        } catch (OutcomeUnknownException e) {
            return new Ended<>(new ProcessingFailure.CommitUnknown<>(partitions, e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Ended<>(new ProcessingFailure.Unavailable<>(e));
        } catch (Exception e) {
            return classify(progress, e);
        }
    }

    private Attempt<E> classify(Progress progress, Exception failure) {
        if (Failures.isConflict(failure)) {
            return new Ended<>(new ProcessingFailure.Contended<>(failure));
        }
        // What our own statements say is no event's fault, except that they found the transaction dead.
        boolean ofTheWork = progress.phase == Phase.HANDLERS
                || failure instanceof TransactionLostException
                || failure instanceof RolledBackException
                || failure instanceof CommitFailedException;
        if (!ofTheWork || Failures.isInfrastructure(failure)) {
            return new Ended<>(new ProcessingFailure.Unavailable<>(failure));
        }
        return new Failed<>(progress.index, failure);
    }

    /** One transaction's worth of work. */
    @FunctionalInterface
    private interface Body<E> {
        Attempt<E> run(Transaction transaction, Progress progress) throws Exception;
    }

    /** What a transaction is busy with: it decides whom to blame. */
    private enum Phase {
        MARKS,
        HANDLERS,
        LAST
    }

    /** How far one transaction has come. */
    private static final class Progress {
        private Phase phase = Phase.MARKS;
        private int index = -1;
    }

    /** One delivery with what is needed to leave it behind. */
    private record Item<E>(PartitionAssignment assignment, Delivery<E> delivery, long next) {
        EventPartition partition() {
            return assignment.partition();
        }
    }

    /** How one transaction went. */
    private sealed interface Attempt<E> {}

    private record Committed<E>(int handled, int duplicates) implements Attempt<E> {}

    /** Some event's fault; of the one at the index, or of any if it is negative. */
    private record Failed<E>(int index, Exception cause) implements Attempt<E> {}

    private record Ended<E>(ProcessingFailure<E> failure) implements Attempt<E> {}

    /** The state of one call of {@link #process}. */
    private final class Batch {
        private final Map<EventPartition, @Nullable Long> from = new HashMap<>();
        private final Map<EventPartition, Long> progress = new LinkedHashMap<>();
        private final Set<EventPartition> blocked = new LinkedHashSet<>();
        private final List<ProcessingFailure<E>> failures = new ArrayList<>();
        private int handled;
        private int duplicates;
        private boolean ended;

        List<Item<E>> items(Collection<PartitionDeliveries<E>> deliveries) {
            List<Item<E>> items = new ArrayList<>();
            for (PartitionDeliveries<E> part : deliveries) {
                PartitionAssignment assignment = part.assignment();
                if (from.containsKey(assignment.partition())) {
                    throw new IllegalArgumentException("Two entries for " + assignment.partition());
                }
                from.put(assignment.partition(), assignment.nextOffset());
                for (int i = 0; i < part.deliveries().size(); i++) {
                    boolean isLast = i == part.deliveries().size() - 1;
                    long next =
                            isLast ? part.end() : part.deliveries().get(i + 1).offset();
                    items.add(new Item<>(assignment, part.deliveries().get(i), next));
                }
            }
            return items;
        }

        List<Item<E>> withoutBlocked(List<Item<E>> segment) {
            return blocked.isEmpty()
                    ? segment
                    : segment.stream()
                            .filter(item -> !blocked.contains(item.partition()))
                            .toList();
        }

        void settle(List<Item<E>> segment, Attempt<E> attempt, Deque<List<Item<E>>> work) {
            if (attempt instanceof Committed<E> committed) {
                handled += committed.handled();
                duplicates += committed.duplicates();
                for (Item<E> item : segment) {
                    progress.put(item.partition(), item.next());
                    from.put(item.partition(), item.next());
                }
            } else if (attempt instanceof Failed<E> failed) {
                settleFailed(segment, failed, work);
            } else if (attempt instanceof Ended<E> end) {
                failures.add(end.failure());
                if (end.failure() instanceof ProcessingFailure.Fenced<E> fenced) {
                    blocked.addAll(fenced.partitions());
                    work.push(segment);
                } else {
                    ended = true;
                }
            }
        }

        /** What failed alone is reported; anything else is split, the earlier part first. */
        private void settleFailed(List<Item<E>> segment, Failed<E> failed, Deque<List<Item<E>>> work) {
            if (segment.size() == 1) {
                Item<E> item = segment.get(0);
                failures.add(new ProcessingFailure.HandlerFailed<>(
                        item.partition(), item.delivery(), item.next(), failed.cause()));
                blocked.add(item.partition());
            } else if (failed.index() >= 0) {
                work.push(segment.subList(failed.index() + 1, segment.size()));
                work.push(segment.subList(failed.index(), failed.index() + 1));
                work.push(segment.subList(0, failed.index()));
            } else {
                int middle = segment.size() / 2;
                work.push(segment.subList(middle, segment.size()));
                work.push(segment.subList(0, middle));
            }
        }

        ProcessingResult<E> result() {
            return new ProcessingResult<>(progress, handled, duplicates, failures);
        }
    }

    /** The required options, all present. */
    private record Required<E>(
            ConsumerId consumer,
            ProcessedEventStore store,
            @Nullable PartitionOffsetStore offsets,
            TransactionRunner transactions,
            TransactionScope scope,
            EventBatchHandler<E> handler,
            Deduplication deduplication) {}

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
            ProcessedEventStore theStore = require("store", store);
            Deduplication theDeduplication = deduplication != null
                    ? deduplication
                    : theStore instanceof PartitionOffsetStore
                            ? Deduplication.EVENT_ID_AND_OFFSET
                            : Deduplication.EVENT_ID;
            Required<E> required = new Required<>(
                    require("consumer", consumer),
                    theStore,
                    theDeduplication.byOffset() ? requireOffsets(theStore, theDeduplication) : null,
                    require("transactions", transactions),
                    require("handler or batchHandler", scope),
                    require("handler or batchHandler", handler),
                    theDeduplication);
            theStore.register(required.consumer());
            return new EventProcessor<>(this, required);
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
