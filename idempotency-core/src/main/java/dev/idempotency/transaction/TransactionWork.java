package dev.idempotency.transaction;

import org.jspecify.annotations.Nullable;

/**
 * What runs inside one transaction; callers of a {@link TransactionRunner} implement it.
 *
 * @param <T> the type of its value
 * @param <X> the type of exception it may throw; it passes through the runner untouched
 */
@FunctionalInterface
public interface TransactionWork<T extends @Nullable Object, X extends Exception> {
    /**
     * Does the work.
     *
     * @param transaction the transaction, valid until this method returns and on this thread only
     * @return the value for the caller of the runner
     * @throws X to roll the transaction back
     */
    T run(Transaction transaction) throws X;
}
