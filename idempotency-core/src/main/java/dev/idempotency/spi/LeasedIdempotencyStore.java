package dev.idempotency.spi;

import dev.idempotency.RecordedResult;
import java.time.Duration;

/**
 * A store whose claim is committed first and lasts as long as its lease: the ability behind {@link
 * dev.idempotency.Protection#LEASED}.
 *
 * <p><b>Transaction:</b> each method is one short transaction of its own and must not be called inside another.<br>
 * <b>Concurrency:</b> of many claims of one record id exactly one is acquired; extend, complete and release carry the
 * claim's id and token and do nothing once it is lost or released.<br>
 * <b>Durability:</b> committed when the method returns.<br>
 * <b>Failure:</b> a claim whose commit got no answer is looked up by its id, which no successor can have; {@link
 * dev.idempotency.StoreUnavailableException}, {@link dev.idempotency.StoreConflictException},
 * {@link dev.idempotency.StoreException}: unchanged; {@link dev.idempotency.transaction.OutcomeUnknownException}: look
 * again.<br>
 * <b>Time source:</b> the store's own clock.
 */
public interface LeasedIdempotencyStore extends IdempotencyStore {
    /**
     * Claims the record for the length of a lease, or tells what stands in the way.
     *
     * <p>The fingerprint is stored with the claim, so a mismatch is seen, and wins, while the first attempt still runs.
     *
     * @param request what to claim
     * @param leaseDuration how long the claim lasts unless extended; 1 s to 24 h
     * @return the outcome
     */
    ClaimOutcome claim(ClaimRequest request, Duration leaseDuration);

    /**
     * Makes the lease end this long from now, if the claim is still this owner's and its lease has not ended.
     *
     * @param claim what {@link #claim} gave
     * @param leaseDuration how long the claim lasts from now; 1 s to 24 h
     * @return true if extended; false if the claim is lost
     */
    boolean extend(Claim claim, Duration leaseDuration);

    /**
     * Writes the result and ends the claim, if it is still this owner's; a lease that ended unnoticed by anybody else
     * does not matter.
     *
     * @param claim what {@link #claim} gave
     * @param result the result to keep
     * @return true if recorded; false if the claim is lost
     */
    boolean complete(Claim claim, RecordedResult result);

    /**
     * Gives the claim back without a result, if it is still this owner's: the next attempt runs.
     *
     * <p>Right only when the effect is known not to have happened (DESIGN rule T7).
     *
     * @param claim what {@link #claim} gave
     * @return true if released; false if the claim is lost
     */
    boolean release(Claim claim);
}
