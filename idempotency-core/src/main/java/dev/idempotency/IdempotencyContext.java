package dev.idempotency;

import dev.idempotency.transaction.Transaction;
import java.util.Optional;

/**
 * What the running work may know and say of its claim; the library implements it.
 *
 * <p>Belongs to one attempt. {@link #isLeaseValid()} may be called from any thread, the rest from the work's own.
 */
public interface IdempotencyContext {
    /**
     * Returns scope and key of the operation.
     *
     * @return the id
     */
    RecordId id();

    /**
     * Returns which attempt this is.
     *
     * @return 1 for the first, more only after a claim was abandoned and taken over
     */
    int attempt();

    /**
     * Returns the fencing token of the claim, for systems that can refuse an owner that is no longer the latest.
     *
     * @return the token; greater than that of any earlier claim of the same id; 0 under {@link
     *     Protection#TRANSACTIONAL} where the store writes no claim
     */
    long fencingToken();

    /**
     * Tells whether the claim is still certain to be this owner's.
     *
     * @return under {@link Protection#TRANSACTIONAL} always true; under {@link Protection#LEASED} false once the lease
     *     may have ended, by the monotonic clock counted from before its last extension
     */
    boolean isLeaseValid();

    /**
     * Returns the transaction in which the work runs.
     *
     * @return the transaction; empty under {@link Protection#LEASED}
     */
    Optional<Transaction> transaction();

    /**
     * Returns the key for a call that this work makes to another system: the same in every attempt of this operation.
     *
     * @param step the step's stable name, unique within the operation
     * @return the derived key
     */
    IdempotencyKey derive(String step);

    /**
     * Declares that nothing happened outside, so that a failure of this work frees the key under {@link
     * Protection#LEASED} too. Has no effect on work that succeeds.
     */
    void markNoEffect();
}
