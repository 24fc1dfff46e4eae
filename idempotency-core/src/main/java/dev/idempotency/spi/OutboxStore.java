package dev.idempotency.spi;

import dev.idempotency.OutboxEvent;
import dev.idempotency.StoreException;
import dev.idempotency.transaction.TransactionContext;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * Keeps events until they are published; store modules implement it together with the abilities their database allows:
 * {@link LeasedOutboxStore}, {@link ClaimingOutboxStore}, {@link LockingOutboxStore}.
 *
 * <p><b>Transaction:</b> {@link #append} joins the caller's and never ends it; the other methods run in short
 * transactions of their own.<br>
 * <b>Concurrency:</b> safe for use by many threads and processes.<br>
 * <b>Durability:</b> an append is visible to relays when the caller's transaction has committed; after its rollback
 * nothing is left. Other changes are visible when the method returns.<br>
 * <b>Failure:</b> {@link dev.idempotency.StoreUnavailableException}, {@link dev.idempotency.StoreConflictException} or
 * {@link dev.idempotency.StoreException}; the state is unchanged, or unknown where the connection was lost.<br>
 * <b>Time source:</b> the store's own clock alone, never that of a process (DESIGN rule T8).
 */
public interface OutboxStore {
    /**
     * Writes the events into the caller's transaction, in one statement, in the order given.
     *
     * <p>The transaction has a transaction id before the first sequence number is drawn, see {@link LowWaterMark}. An
     * event whose id is in the outbox already, with the same topic, key and payload, is not written again.
     *
     * @param transaction the business transaction, not in autocommit
     * @param events at least one event; each has an id, no two the same
     * @return the ids that were in the outbox already; usually none
     * @throws IllegalStateException if there is no transaction: the connection is in autocommit
     * @throws dev.idempotency.StoreException also if an id is in the outbox already for a different event
     */
    Set<UUID> append(TransactionContext transaction, List<OutboxEvent> events);

    /**
     * Writes events whose ids were drawn for them just now, so that no row can have one of them; as {@link #append} in every
     * other way. A store overrides it where it costs less not to look for such a row.
     *
     * @param transaction the business transaction, not in autocommit
     * @param events at least one event; each has a new id
     * @throws IllegalStateException if there is no transaction: the connection is in autocommit
     * @throws dev.idempotency.StoreException also if an id is not new
     */
    default void appendNew(TransactionContext transaction, List<OutboxEvent> events) {
        Set<UUID> known = append(transaction, events);
        if (!known.isEmpty()) {
            throw new StoreException(
                    "The outbox has events already under ids that were drawn just now: " + known, null);
        }
    }

    /**
     * Tells how far the outbox is finished, and prepares the next step.
     *
     * <p>A store that cannot prove anything about transactions under way returns the mark unchanged.
     *
     * @param mark what the last call returned, or {@link LowWaterMark#unknown()}
     * @return the new mark; neither {@link LowWaterMark#firstLive()} nor {@link LowWaterMark#visibleBelow()} ever falls
     */
    LowWaterMark advance(LowWaterMark mark);

    /**
     * Deletes rows that were published longer ago than this, never one in another state.
     *
     * @param age by the store's clock since the row was marked
     * @param limit the most rows to delete in this call, 1 to 10,000
     * @return how many were deleted; fewer than the limit when no more are left
     */
    int deletePublished(Duration age, int limit);
}
