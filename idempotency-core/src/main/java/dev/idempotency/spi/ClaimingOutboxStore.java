package dev.idempotency.spi;

import java.time.Duration;
import java.util.List;

/**
 * An outbox whose rows are claimed one by one: PENDING, PUBLISHING, then PUBLISHED or DEAD. Any number of relays share
 * the rows; there is no order between them.
 *
 * <p><b>Transaction:</b> each method is one short transaction of its own.<br>
 * <b>Concurrency:</b> a row is in one claim at a time; two concurrent claims never wait for each other. Every mark
 * carries the claim's token and passes over rows that are no longer in that claim, or no longer of that event: 0 rows is
 * a normal answer.<br>
 * <b>Durability:</b> committed when the method returns.<br>
 * <b>Failure:</b> as in {@link OutboxStore}; a mark whose outcome is unknown may be repeated, because the token makes the
 * repetition hit nothing.<br>
 * <b>Time source:</b> the store's own clock.
 */
public interface ClaimingOutboxStore extends OutboxStore {
    /**
     * Claims rows that are due and pending, or whose claim has ended, the oldest first.
     *
     * @param owner who claims, for operators to see; at most 100 characters
     * @param leaseDuration how long the claim lasts; 1 s to 24 h
     * @param query which rows
     * @return the claim
     */
    OutboxClaim claim(String owner, Duration leaseDuration, OutboxQuery query);

    /**
     * Marks rows of a claim as published, or deletes them.
     *
     * @param token the claim's token
     * @param ids the rows; at least one
     * @param rows what becomes of them
     * @return how many were still in this claim
     */
    int markPublished(long token, List<OutboxRowId> ids, PublishedRows rows);

    /**
     * Counts a failed attempt of each row of a claim, and ends its claim: pending again after a while, or dead.
     *
     * @param token the claim's token
     * @param failures the rows; at least one
     * @return how many were still in this claim
     */
    int markFailed(long token, List<OutboxFailure> failures);

    /**
     * Gives rows of a claim back as they were: pending, due at once, their attempts not changed.
     *
     * @param token the claim's token
     * @param ids the rows; at least one
     * @return how many were still in this claim
     */
    int release(long token, List<OutboxRowId> ids);

    /**
     * Returns rows whose claim has ended to PENDING, counting a crash for each; their attempts are not changed.
     *
     * <p>Relays claim such rows again without it: this is for the eyes of operators, and for outboxes whose relays are
     * all gone.
     *
     * @param limit the most rows to return, 1 to 10,000
     * @return how many were returned; fewer than the limit when no more are left
     */
    int returnExpired(int limit);
}
