package dev.idempotency.spi;

import dev.idempotency.transaction.Transaction;
import java.util.List;

/**
 * An outbox whose rows stay locked in one transaction while they are sent: a crash frees them at once, and no clock is
 * involved. Any number of relays share the rows; there is no order between them.
 *
 * <p><b>Transaction:</b> all three methods join the relay's transaction and never end it.<br>
 * <b>Concurrency:</b> a row is locked by one transaction at a time; two concurrent calls never wait for each other.<br>
 * <b>Durability:</b> with the commit of the transaction.<br>
 * <b>Failure:</b> as in {@link OutboxStore}; the transaction must be rolled back.<br>
 * <b>Time source:</b> the store's own clock.
 */
public interface LockingOutboxStore extends OutboxStore {
    /**
     * Locks rows that are due and pending, passing over those that others hold, the oldest first.
     *
     * <p>It also puts {@link Transaction#limits()} in force.
     *
     * @param transaction the relay's transaction
     * @param query which rows
     * @return the rows, in the order of their sequence numbers
     */
    List<OutboxRow> lock(Transaction transaction, OutboxQuery query);

    /**
     * Marks locked rows as published, or deletes them.
     *
     * @param transaction the transaction that locked them
     * @param ids the rows; at least one
     * @param rows what becomes of them
     * @return how many were marked: fewer than given only if the transaction is not the one that locked them
     */
    int markPublished(Transaction transaction, List<OutboxRowId> ids, PublishedRows rows);

    /**
     * Counts a failed attempt of each locked row: pending again after a while, or dead.
     *
     * @param transaction the transaction that locked them
     * @param failures the rows; at least one
     * @return how many were marked
     */
    int markFailed(Transaction transaction, List<OutboxFailure> failures);
}
