package dev.idempotency.spi;

import dev.idempotency.RecordedResult;
import dev.idempotency.transaction.Transaction;

/**
 * A store whose claim and completion join the transaction of the work: the ability behind {@link
 * dev.idempotency.Protection#TRANSACTIONAL}.
 *
 * <p><b>Transaction:</b> joins the caller's, never commits or rolls back.<br>
 * <b>Concurrency:</b> of two transactions with one record id at most one commits a completion. A claim never waits for
 * another transaction longer than {@link dev.idempotency.transaction.TransactionLimits#lockWait()}.<br>
 * <b>Durability:</b> a completion is visible to others when the caller's transaction has committed; after its rollback
 * nothing is left, neither claim nor record.<br>
 * <b>Failure:</b> {@link dev.idempotency.StoreConflictException} when a concurrent transaction won, {@link
 * dev.idempotency.StoreUnavailableException}, {@link dev.idempotency.StoreException}; the transaction must be rolled
 * back.<br>
 * <b>Time source:</b> the database's clock.
 */
public interface TransactionalIdempotencyStore extends IdempotencyStore {
    /**
     * Claims the record for this transaction, or tells what stands in the way.
     *
     * <p>One execution; it also puts {@link Transaction#limits()} in force. A look-up is never older than the claim it
     * decides on: a duplicate that begins after the first attempt has committed is never acquired. In a transaction that
     * was marked rollback-only before its first statement no work will run, and the claim is a look-up: that it could be
     * had proves that nothing had been committed under the key, at whatever isolation level transactions begin.
     *
     * @param transaction the transaction in which the work will run
     * @param request what to claim
     * @return the outcome; {@link ClaimOutcome.Acquired} to one transaction at a time
     */
    ClaimOutcome claim(Transaction transaction, ClaimRequest request);

    /**
     * Writes the complete record as the last statement of the transaction that claimed it.
     *
     * <p>The statement's row count is checked, and it proves that it runs in the claim's transaction (DESIGN rule T2).
     *
     * @param transaction the transaction of the claim
     * @param claim what {@link #claim} gave
     * @param result the result to keep
     * @throws dev.idempotency.ClaimLostException if somebody else's record stands in the place
     * @throws dev.idempotency.TransactionLostException if the claim's transaction has ended behind the library's back
     */
    void complete(Transaction transaction, Claim claim, RecordedResult result);
}
