package dev.idempotency.transaction;

import org.jspecify.annotations.Nullable;

/**
 * Opens a transaction, runs work in it, and commits or rolls back; a store's module or a framework's adapter implements
 * it, engines call it.
 *
 * <p>The transaction runs at the data source's own isolation level; the engines' statements are right at READ COMMITTED
 * and above. Implementations are safe for use by many threads. They never wait with a connection in hand other than for
 * the database itself.
 */
public interface TransactionRunner {
    /**
     * Runs the work in a new transaction of its own and ends it.
     *
     * <p>The transaction is committed when the work returns, and rolled back when it throws, when {@link
     * Transaction#setRollbackOnly()} was called (the work's value is then returned all the same), or when the connection
     * saw an error after which the server may have rolled back on its own.
     *
     * @param <T> the type of the work's value
     * @param <X> the type of exception the work may throw
     * @param limits the bounds of waits inside the transaction
     * @param work what to do; it runs at most once
     * @return the work's value
     * @throws X what the work threw, untouched, after the rollback; a failure of the rollback is added as suppressed
     * @throws dev.idempotency.StoreUnavailableException if no connection could be had or no transaction begun: the work
     *     did not run
     * @throws RolledBackException if the work returned but the transaction had failed meanwhile: nothing was written
     * @throws CommitFailedException if the server refused the commit: nothing was written
     * @throws OutcomeUnknownException if the commit was sent and its answer did not come; the connection has been
     *     thrown away
     * @throws IllegalStateException if this thread already runs a transaction of this runner
     */
    <T extends @Nullable Object, X extends Exception> T run(TransactionLimits limits, TransactionWork<T, X> work)
            throws X;
}
