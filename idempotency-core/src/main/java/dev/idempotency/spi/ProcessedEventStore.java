package dev.idempotency.spi;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionContext;
import java.time.Duration;
import java.util.Collection;

/**
 * Remembers which consumer has processed which event; implemented by store modules, called by the event engine and by
 * {@link dev.idempotency.event.ProcessedEvents}.
 *
 * <p>What more a store can do is told by the sub-interfaces {@link PartitionOffsetStore} and {@link ParkedEventStore}.
 *
 * <p><b>Transaction:</b> {@link #mark} and {@link #confirm} join the caller's and never end it; the others run in short
 * transactions of their own.<br>
 * <b>Concurrency:</b> safe for use by many threads and processes. Of two transactions that mark the same event for the
 * same consumer at most one commits it as fresh; the second waits for the end of the first, but no longer than its {@link
 * dev.idempotency.transaction.TransactionLimits#lockWait()}.<br>
 * <b>Durability:</b> a mark is visible to others when the caller's transaction has committed; after its rollback nothing
 * is left.<br>
 * <b>Failure:</b> {@link dev.idempotency.StoreConflictException} when a concurrent transaction won, {@link
 * dev.idempotency.StoreUnavailableException}, {@link dev.idempotency.StoreException}; a joined transaction must then be
 * rolled back.<br>
 * <b>Time source:</b> the store's own clock (DESIGN rule T8).
 */
public interface ProcessedEventStore {
    /**
     * Makes the consumer known; must have returned once in this process before the other methods are called for it.
     *
     * <p>A store may keep consumers under a short number, and a number that was given in a transaction that rolls back
     * would be a number of nobody: hence a transaction of its own. Repeating it changes nothing.
     *
     * @param consumer the consumer
     */
    void register(ConsumerId consumer);

    /**
     * Marks the events as processed by the consumer and tells which of them were not marked before.
     *
     * <p>One execution. The marks are written in an order that is the same for every caller (DESIGN rule T12). In a {@link
     * Transaction} it is the first statement: it also puts {@link Transaction#limits()} in force, and does so, and gives
     * a proof, when there are no ids.
     *
     * @param transaction the transaction in which the events are handled
     * @param consumer a registered consumer
     * @param ids the events, in any order, with or without repeats; may be empty
     * @return the fresh ones, and the proof for the last statement
     * @throws IllegalStateException if the consumer has not been registered
     */
    Marks mark(TransactionContext transaction, ConsumerId consumer, Collection<EventId> ids);

    /**
     * Proves, as the last statement of the transaction, that it is still the one that made the marks (DESIGN rule T2).
     *
     * <p>Not needed after {@link PartitionOffsetStore#advance}, which proves the same.
     *
     * @param transaction the transaction of the marks
     * @param marks what {@link #mark} gave
     * @throws dev.idempotency.TransactionLostException if that transaction has ended or failed behind the library's back;
     *     the transaction must be rolled back
     */
    void confirm(Transaction transaction, Marks marks);

    /**
     * Deletes marks that are older than this, in short transactions of its own, one runner at a time among all processes.
     *
     * <p>An event that is delivered again after its mark is gone runs again.
     *
     * @param age how old a mark must be; at least 1 minute
     * @param limit the most marks to delete in this call, 1 to 100,000
     * @return how many were deleted; fewer than the limit when no more are left, 0 also while another process deletes
     */
    int deleteMarks(Duration age, int limit);
}
