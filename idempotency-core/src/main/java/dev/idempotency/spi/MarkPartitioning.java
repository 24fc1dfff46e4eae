package dev.idempotency.spi;

import java.time.Duration;

/**
 * The upkeep of a table of marks that is divided by the time of the event ids, so that old marks go with their partition
 * and not one by one; {@link dev.idempotency.event.MarkCleanUp} calls it.
 *
 * <p>Safe for use by many threads and processes, of which one at a time works. Transactions: short ones of its own. Failure:
 * {@link dev.idempotency.StoreConflictException} when a lock was not given in time, {@link
 * dev.idempotency.StoreUnavailableException}, {@link dev.idempotency.StoreException}; what was done before stays done.
 * Time source: the database's clock.
 */
public interface MarkPartitioning {
    /**
     * Makes the partitions that will be needed soon, and drops those in which every mark is older than this.
     *
     * @param age how old all marks of a partition must be before it is dropped; at least 1 minute
     * @return how many partitions were dropped; 0 also while another process is at it
     */
    int maintain(Duration age);
}
