package dev.idempotency.event;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.KeyDerivation;
import dev.idempotency.TransactionLostException;
import dev.idempotency.event.ProcessingReport.Kind;
import dev.idempotency.internal.SqlFailures;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.Marks;
import dev.idempotency.spi.OffsetAdvance;
import dev.idempotency.spi.PartitionAssignment;
import dev.idempotency.spi.PartitionOffsetStore;
import dev.idempotency.spi.ProcessedEventStore;
import dev.idempotency.transaction.CommitFailedException;
import dev.idempotency.transaction.OutcomeUnknownException;
import dev.idempotency.transaction.RolledBackException;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Runs the transactions of an {@link EventProcessor} and tells how each went, and whose fault it was. */
record EventTransactions<E>(
        ConsumerId consumer,
        ProcessedEventStore store,
        @Nullable PartitionOffsetStore offsets,
        TransactionRunner transactions,
        EventBatchHandler<E> handler,
        boolean oneByOne,
        Deduplication deduplication,
        KeyDerivation keys,
        TransactionLimits limits,
        int maxConflicts,
        TransactionReports reports) {

    /** One transaction's worth of work. */
    @FunctionalInterface
    interface Body<E> {
        Attempt<E> run(Transaction transaction, Progress progress) throws Exception;
    }

    /** Marks the events, handles the fresh ones and advances their partitions. */
    Attempt<E> handle(List<Item<E>> segment, Map<EventPartition, @Nullable Long> from) {
        Set<EventPartition> partitions = new HashSet<>();
        segment.forEach(item -> partitions.add(item.partition()));
        List<OffsetAdvance> advances = advances(segment, from);
        return run(
                partitions,
                Kind.COMMITTED,
                segment.size(),
                (transaction, progress) -> handle(
                        segment,
                        transaction,
                        progress,
                        (marks, committed) -> advance(transaction, marks, advances, committed)));
    }

    /** The same, for events that were delivered before: no offset is moved. */
    EventTransactions<E> withoutOffsets() {
        return new EventTransactions<>(
                consumer,
                store,
                null,
                transactions,
                handler,
                oneByOne,
                Deduplication.EVENT_ID,
                keys,
                limits,
                maxConflicts,
                reports);
    }

    /** Moves a partition without handling anything. */
    ProcessingResult<E> moveTo(PartitionAssignment assignment, long offset) {
        EventPartition partition = assignment.partition();
        OffsetAdvance advance = new OffsetAdvance(partition, assignment.epoch(), assignment.nextOffset(), offset);
        Attempt<E> attempt =
                retryingConflicts(() -> runOnce(Set.of(partition), new Progress(), (transaction, progress) -> {
                    Marks marks = store.mark(transaction, consumer, List.of());
                    return advance(transaction, marks, List.of(advance), new Attempt.Committed<>(0, 0, 0));
                }));
        return Parking.result(assignment, offset, attempt);
    }

    /** What is done last in a transaction whose events are handled. */
    @FunctionalInterface
    interface Last<E> {
        Attempt<E> run(Marks marks, Attempt<E> committed) throws Exception;
    }

    Attempt<E> handle(List<Item<E>> segment, Transaction transaction, Progress progress, Last<E> last)
            throws Exception {
        Marks marks = store.mark(transaction, consumer, ids(segment));
        List<Integer> fresh = firstOccurrences(segment, marks);
        progress.handlersBegin(fresh.size());
        try {
            Attempt.Failed<E> requested = handle(segment, fresh, transaction, progress);
            if (requested != null) {
                progress.connectionLost = isConnectionLost(transaction, marks);
                return requested;
            }
            progress.index = -1;
            transaction.flush();
            progress.handlersEnd();
            return last.run(
                    marks,
                    new Attempt.Committed<>(
                            fresh.size(), segment.size() - fresh.size(), ofFresh(segment, marks) - fresh.size()));
        } catch (Exception e) {
            progress.connectionLost = isConnectionLost(transaction, marks);
            throw e;
        }
    }

    /** The last statement; without an offset to move, the proof alone. */
    Attempt<E> advance(Transaction transaction, Marks marks, List<OffsetAdvance> advances, Attempt<E> advanced) {
        Set<EventPartition> fenced = Set.of();
        if (offsets != null) {
            fenced = offsets.advance(transaction, marks, consumer, advances);
        } else {
            store.confirm(transaction, marks);
        }
        if (fenced.isEmpty()) {
            return advanced;
        }
        transaction.setRollbackOnly();
        return new Attempt.Ended<>(new ProcessingFailure.Fenced<>(fenced));
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

    /** How many deliveries there are of events that are fresh. */
    private int ofFresh(List<Item<E>> segment, Marks marks) {
        return deduplication.byEventId()
                ? (int) segment.stream()
                        .filter(item -> marks.fresh().contains(item.delivery().id()))
                        .count()
                : segment.size();
    }

    /** Runs the handler; returns a failure if it asked for a rollback without throwing. */
    private Attempt.@Nullable Failed<E> handle(
            List<Item<E>> segment, List<Integer> fresh, Transaction transaction, Progress progress) throws Exception {
        if (fresh.isEmpty()) {
            return null;
        }
        if (!oneByOne) {
            List<Event<E>> events = new ArrayList<>(fresh.size());
            fresh.forEach(index -> events.add(event(segment.get(index).delivery(), transaction)));
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
            handler.handle(List.of(event(segment.get(index).delivery(), transaction)), transaction);
            Attempt.Failed<E> requested = rollbackRequested(transaction, index);
            if (requested != null) {
                return requested;
            }
        }
        return null;
    }

    private Event<E> event(Delivery<E> delivery, Transaction transaction) {
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
    private static <E> Attempt.@Nullable Failed<E> rollbackRequested(Transaction transaction, int index) {
        return transaction.isRollbackOnly()
                ? new Attempt.Failed<>(
                        index,
                        false,
                        new IllegalStateException("The handler returned, but its transaction was marked for rollback:"
                                + " throw an exception to say that the event is not handled"))
                : null;
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

    // ---- whose fault

    /** Runs one transaction with one event. */
    Attempt<E> run(EventPartition partition, Kind success, Body<E> body) {
        return run(Set.of(partition), success, 1, body);
    }

    /** Runs one transaction, again while it only loses against concurrent ones. */
    private Attempt<E> run(Set<EventPartition> partitions, Kind success, int events, Body<E> body) {
        return retryingConflicts(() -> {
            long beganAtNanos = System.nanoTime();
            Attempt<E> attempt = runOnce(partitions, new Progress(), body);
            reports.ended(attempt, success, events, beganAtNanos);
            return attempt;
        });
    }

    private Attempt<E> retryingConflicts(Supplier<Attempt<E>> run) {
        for (int conflicts = 1; ; conflicts++) {
            Attempt<E> attempt = run.get();
            if (conflicts >= maxConflicts
                    || !(attempt instanceof Attempt.Ended<E> ended)
                    || !(ended.failure() instanceof ProcessingFailure.Contended<E>)) {
                return attempt;
            }
        }
    }

    private Attempt<E> runOnce(Set<EventPartition> partitions, Progress progress, Body<E> body) {
        try {
            return transactions.run(limits, transaction -> body.run(transaction, progress));
        } catch (OutcomeUnknownException e) {
            return new Attempt.Ended<>(new ProcessingFailure.CommitUnknown<>(partitions, e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Attempt.Ended<>(new ProcessingFailure.Unavailable<>(e));
        } catch (Exception e) {
            return classify(progress, e);
        } catch (StackOverflowError | AssertionError e) {
            // Of the event, such as a content that is nested too deep; thrown on, it would end one consumer after the
            // other.
            if (!progress.inHandlers) {
                throw e;
            }
            return new Attempt.Failed<>(
                    progress.index, false, new IllegalStateException("The handler threw an error: " + e, e));
        }
    }

    private Attempt<E> classify(Progress progress, Exception failure) {
        if (SqlFailures.isConflict(failure)) {
            return new Attempt.Ended<>(new ProcessingFailure.Contended<>(failure));
        }
        if (progress.connectionLost && progress.handlersRan) {
            return classifyLoss(progress, failure);
        }
        // What our own statements say is no event's fault, except that they found the transaction dead.
        boolean ofTheWork = progress.inHandlers
                || failure instanceof TransactionLostException
                || failure instanceof RolledBackException
                || failure instanceof CommitFailedException;
        if (!ofTheWork || SqlFailures.isInfrastructure(failure)) {
            return new Attempt.Ended<>(new ProcessingFailure.Unavailable<>(failure));
        }
        return new Attempt.Failed<>(progress.index, false, failure);
    }

    /**
     * The handler's own connection is gone. A handler that was silent for longer than its transaction may be idle has lost
     * it by that, and would do so for ever; the server's reason may not have come through, so the duration tells as well.
     * Otherwise it counts against the event only while the database is there to be used.
     */
    private Attempt<E> classifyLoss(Progress progress, Exception failure) {
        if (SqlFailures.isEndedForItsLength(failure)
                || progress.nanosSinceHandlersBegan() >= limits.idle().toNanos()) {
            return new Attempt.Failed<>(progress.index, false, failure);
        }
        return answers()
                ? new Attempt.Failed<>(progress.index, true, failure)
                : new Attempt.Ended<>(new ProcessingFailure.Unavailable<>(failure));
    }

    /** Asks on the transaction's own connection: what a handler throws may come from anywhere. */
    private boolean isConnectionLost(Transaction transaction, Marks marks) {
        try {
            store.confirm(transaction, marks);
            return false;
        } catch (TransactionLostException e) {
            return false;
        } catch (RuntimeException e) {
            // Not by its kind: a pool that has seen the loss may say no more than that the connection is closed.
            return true;
        }
    }

    private boolean answers() {
        try {
            return transactions.<Boolean, RuntimeException>run(limits, transaction -> {
                store.mark(transaction, consumer, List.of());
                transaction.setRollbackOnly();
                return true;
            });
        } catch (RuntimeException e) {
            return false;
        }
    }

    /** How far one transaction has come. */
    static final class Progress {
        private int index = -1;
        private boolean inHandlers;
        private boolean handlersRan;
        private boolean connectionLost;
        private long handlersBeganNanos;

        void handlersBegin(int events) {
            inHandlers = true;
            handlersRan = events > 0;
            handlersBeganNanos = System.nanoTime();
        }

        void handlersEnd() {
            inHandlers = false;
        }

        long nanosSinceHandlersBegan() {
            return System.nanoTime() - handlersBeganNanos;
        }
    }
}
