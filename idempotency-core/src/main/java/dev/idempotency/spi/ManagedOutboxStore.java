package dev.idempotency.spi;

import java.util.List;

/**
 * An outbox whose rows operators may look at and move by hand; a store implements it where its database allows.
 *
 * <p><b>Transaction:</b> each method is one short transaction of its own.<br>
 * <b>Concurrency:</b> safe beside relays of every mode; two concurrent calls never change the same row twice.<br>
 * <b>Durability:</b> committed when the method returns.<br>
 * <b>Failure:</b> as in {@link OutboxStore}.<br>
 * <b>Time source:</b> the store's own clock.
 */
public interface ManagedOutboxStore extends OutboxStore {
    /** The most rows of one call. */
    int LARGEST_LIMIT = 10_000;

    /**
     * Tells how much there is to do, at a cost that does not grow with it.
     *
     * @return the backlog now
     */
    OutboxBacklog backlog();

    /**
     * Finds rows, the oldest first.
     *
     * @param status their state
     * @param filter which of them
     * @param limit the most rows to return, 1 to {@link #LARGEST_LIMIT}
     * @return the rows, without their content
     */
    List<OutboxEntry> find(OutboxEntry.Status status, OutboxFilter filter, int limit);

    /**
     * Makes DEAD rows PENDING again, due at once, with no attempt counted.
     *
     * <p>Where relays leave numbers behind for good, see {@link LowWaterMark}, the rows get new ones, behind all others.
     *
     * @param filter which of them
     * @param limit the most rows, 1 to {@link #LARGEST_LIMIT}
     * @return how many were changed; fewer than the limit when no more are left
     */
    int requeue(OutboxFilter filter, int limit);

    /**
     * Gives PENDING rows up: they become DEAD, and their keys go on.
     *
     * <p>What a relay has on its way at that moment may be published all the same.
     *
     * @param filter which of them
     * @param reason kept as the row's error; at most {@link OutboxFailure#LONGEST_ERROR} characters
     * @param limit the most rows, 1 to {@link #LARGEST_LIMIT}
     * @return how many were changed; fewer than the limit when no more are left
     */
    int skip(OutboxFilter filter, String reason, int limit);

    /**
     * Deletes DEAD rows; their events are lost for good.
     *
     * @param filter which of them
     * @param limit the most rows, 1 to {@link #LARGEST_LIMIT}
     * @return how many were deleted; fewer than the limit when no more are left
     */
    int discard(OutboxFilter filter, int limit);

    /**
     * Returns the rows that a relay has claimed to PENDING, counting a crash for each; the relay's marks then change
     * nothing. For a relay that is known to be gone, whose claims run for long.
     *
     * @param owner the relay, as it stands in the rows
     * @param limit the most rows, 1 to {@link #LARGEST_LIMIT}
     * @return how many were returned; fewer than the limit when no more are left
     */
    int releaseClaims(String owner, int limit);
}
