package dev.idempotency.operation;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.transaction.TransactionContext;

/**
 * What work under {@link dev.idempotency.Protection#TRANSACTIONAL} is given: its claim, and the transaction in which its
 * effect, its result and its record commit together; the library implements it.
 *
 * <p>Belongs to one attempt, to its thread, and ends with the work.
 */
public interface TransactionalContext extends IdempotencyContext, TransactionContext {
    /**
     * Registers an action for the time after a successful commit, as {@link
     * dev.idempotency.transaction.Transaction#afterCommit} does.
     *
     * @param action what to do; what it throws is logged and changes nothing
     */
    void afterCommit(Runnable action);
}
