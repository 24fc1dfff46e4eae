package dev.idempotency.event;

import dev.idempotency.ConsumerId;
import dev.idempotency.event.ProcessingReport.Kind;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.Marks;
import dev.idempotency.spi.OffsetAdvance;
import dev.idempotency.spi.ParkedEvent;
import dev.idempotency.spi.ParkedEventStore;
import dev.idempotency.spi.PartitionAssignment;
import dev.idempotency.transaction.Transaction;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Sets events aside and replays them, in one transaction each. */
record Parking<E>(
        EventTransactions<E> transactions,
        ParkedEventStore store,
        @Nullable DeadLetters deadLetters,
        boolean keepsKeyOrder) {

    private ConsumerId consumer() {
        return transactions.consumer();
    }

    ProcessingResult<E> park(PartitionAssignment assignment, ParkedEvent event, long next) {
        return result(
                assignment, next, transactions.run(assignment.partition(), Kind.PARKED, (transaction, progress) -> {
                    Marks marks = transactions.store().mark(transaction, consumer(), List.of());
                    return park(transaction, marks, assignment, event, next);
                }));
    }

    /** Parks the event if an earlier one of its key is parked; else nothing is done, and there is no progress. */
    ProcessingResult<E> parkBehind(PartitionAssignment assignment, ParkedEvent event, byte[] key, long next) {
        return result(
                assignment, next, transactions.run(assignment.partition(), Kind.PARKED, (transaction, progress) -> {
                    Marks marks = transactions.store().mark(transaction, consumer(), List.of());
                    if (store.lockFirstParked(transaction, consumer(), assignment.partition(), key)
                            .isEmpty()) {
                        transaction.setRollbackOnly();
                        return new Attempt.Nothing<>();
                    }
                    return park(transaction, marks, assignment, event, next);
                }));
    }

    private Attempt<E> park(
            Transaction transaction, Marks marks, PartitionAssignment assignment, ParkedEvent event, long next) {
        store.park(transaction, consumer(), event);
        if (deadLetters != null) {
            deadLetters.append(transaction, consumer(), event);
        }
        OffsetAdvance advance =
                new OffsetAdvance(assignment.partition(), assignment.epoch(), assignment.nextOffset(), next);
        return transactions.advance(transaction, marks, List.of(advance), new Attempt.Committed<>(0, 0, 0));
    }

    static <E> ProcessingResult<E> result(PartitionAssignment assignment, long next, Attempt<E> attempt) {
        if (attempt instanceof Attempt.Committed<E>) {
            return new ProcessingResult<>(Map.of(assignment.partition(), next), 0, 0, List.of());
        }
        return attempt instanceof Attempt.Nothing<E>
                ? new ProcessingResult<>(Map.of(), 0, 0, List.of())
                : new ProcessingResult<>(Map.of(), 0, 0, List.of(failure(attempt)));
    }

    private static <E> ProcessingFailure<E> failure(Attempt<E> attempt) {
        return attempt instanceof Attempt.Ended<E> ended
                ? ended.failure()
                : new ProcessingFailure.Unavailable<>(((Attempt.Failed<E>) attempt).cause());
    }

    /** Handles a parked event, unless it was processed meanwhile, and removes it. */
    ReplayOutcome replay(EventPartition partition, long offset, Function<ParkedEvent, ? extends E> decode) {
        Attempt<E> attempt = transactions.run(partition, Kind.REPLAYED, (transaction, progress) -> {
            Optional<ParkedEvent> found = store.lockParked(transaction, consumer(), partition, offset);
            if (found.isEmpty()) {
                return new Attempt.Nothing<>();
            }
            ParkedEvent event = found.get();
            OptionalLong earlier = earlierOfItsKey(transaction, event);
            if (earlier.isPresent()) {
                transaction.setRollbackOnly();
                return new Attempt.Behind<>(earlier.getAsLong());
            }
            Delivery<E> delivery = new Delivery<>(event.id(), offset, event.attempts() + 1, decode.apply(event));
            Item<E> item = new Item<>(new PartitionAssignment(partition, 0, null), delivery, offset + 1);
            return transactions.handle(List.of(item), transaction, progress, (marks, committed) -> {
                store.unpark(transaction, consumer(), partition, offset);
                transactions.store().confirm(transaction, marks);
                return committed;
            });
        });
        return outcome(attempt);
    }

    private OptionalLong earlierOfItsKey(Transaction transaction, ParkedEvent event) {
        byte[] key = event.key();
        if (!keepsKeyOrder || key == null) {
            return OptionalLong.empty();
        }
        OptionalLong first = store.lockFirstParked(transaction, consumer(), event.partition(), key);
        return first.isPresent() && first.getAsLong() < event.offset() ? first : OptionalLong.empty();
    }

    private static <E> ReplayOutcome outcome(Attempt<E> attempt) {
        if (attempt instanceof Attempt.Committed<E> committed) {
            return committed.handled() > 0 ? new ReplayOutcome.Handled() : new ReplayOutcome.AlreadyProcessed();
        }
        if (attempt instanceof Attempt.Nothing<E>) {
            return new ReplayOutcome.NotParked();
        }
        if (attempt instanceof Attempt.Behind<E> behind) {
            return new ReplayOutcome.Waits(behind.offset());
        }
        if (attempt instanceof Attempt.Failed<E> failed) {
            return new ReplayOutcome.Failed(failed.cause());
        }
        ProcessingFailure<E> failure = ((Attempt.Ended<E>) attempt).failure();
        if (failure instanceof ProcessingFailure.CommitUnknown<E> unknown) {
            return new ReplayOutcome.Unknown(unknown.cause());
        }
        return new ReplayOutcome.Failed(
                failure instanceof ProcessingFailure.Contended<E> contended
                        ? contended.cause()
                        : ((ProcessingFailure.Unavailable<E>) failure).cause());
    }
}
