package dev.idempotency.spi;

import dev.idempotency.RecordId;
import dev.idempotency.Scope;

/**
 * Keeps the records of operations; implemented by store modules in one or both of the abilities {@link
 * TransactionalIdempotencyStore} and {@link LeasedIdempotencyStore}.
 *
 * <p><b>Transaction:</b> the methods of this interface run in short transactions of their own.<br>
 * <b>Concurrency:</b> safe for use by many threads and processes.<br>
 * <b>Durability:</b> a change is visible to everybody when the method returns.<br>
 * <b>Failure:</b> {@link dev.idempotency.StoreUnavailableException}, {@link dev.idempotency.StoreConflictException} or
 * {@link dev.idempotency.StoreException}; the state is unchanged, or unknown where the connection was lost.<br>
 * <b>Time source:</b> the store's own clock alone, never that of a process (DESIGN rule T8).
 */
public interface IdempotencyStore {
    /**
     * Forgets one record, whatever its state but a running claim; a repeat of it will run again.
     *
     * @param id scope and key of the record
     * @return true if there was such a record and it is gone; false if there was none or it is claimed right now
     */
    boolean forget(RecordId id);

    /**
     * Forgets the records of one caller over all operations, in batches, leaving those that are claimed right now.
     *
     * <p>A store may wait, within its limits, for a transaction that has a record of the caller in hand, or pass over the record
     * (MariaDB does, where running work holds its record too).
     *
     * @param caller any scope of the tenant and caller meant; its operation is not looked at
     * @param limit the most records to forget in this call, 1 to 10,000
     * @return how many were forgotten; fewer than the limit when no more are left but those
     */
    int forgetCaller(Scope caller, int limit);

    /**
     * Deletes records past their retention, never one that is claimed right now. A store that keeps tombstones deletes what
     * a record holds beside its key, and the rest once the tombstone has ended.
     *
     * @param limit the most records to delete in this call, 1 to 10,000
     * @return how many were deleted or became tombstones; fewer than the limit when no more are left
     */
    int deleteExpired(int limit);
}
