package dev.idempotency.internal.jdbc;

import java.sql.SQLException;

/**
 * Hears of every {@link SQLException} that user code was shown inside a transaction; whoever makes a {@link
 * GuardedConnection} implements it.
 *
 * <p>It is called on the thread that used the connection, before that thread's code sees the exception, so it knows of
 * failures that the code then swallows. It must not throw and must not use the connection.
 */
@FunctionalInterface
public interface TransactionFailureObserver {
    /**
     * Takes notice of a failure.
     *
     * @param failure what is about to be thrown
     * @param rollbackOnly true if the transaction must not be committed any more: the server may have rolled it back on
     *     its own, or user code asked for a rollback
     */
    void observe(SQLException failure, boolean rollbackOnly);
}
