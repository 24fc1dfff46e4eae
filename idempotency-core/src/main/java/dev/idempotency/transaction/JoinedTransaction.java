package dev.idempotency.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;

/**
 * A transaction that the caller owns, wrapped so that a store can write in it.
 *
 * <p>It offers less than a {@link Transaction}: the library's statement cannot be the last one, nothing can be retried,
 * and there is no {@code afterCommit}. The caller must let an exception of the store reach its own rollback, and must
 * not commit after a swallowed SQL error.
 */
public final class JoinedTransaction implements TransactionContext {
    private final Connection connection;

    private JoinedTransaction(Connection connection) {
        this.connection = connection;
    }

    /**
     * Joins the transaction that runs on this connection.
     *
     * @param connection the caller's connection, with autocommit off; it is neither committed nor closed here
     * @return the transaction, to be used on the caller's thread until the caller ends it
     * @throws IllegalStateException if the connection is in autocommit: each statement would be a transaction of its
     *     own, and mark and effect could part
     * @throws SQLException if the connection does not answer
     */
    public static JoinedTransaction of(Connection connection) throws SQLException {
        Objects.requireNonNull(connection, "connection");
        if (connection.getAutoCommit()) {
            throw new IllegalStateException("The connection is in autocommit, so there is no transaction to join: call"
                    + " setAutoCommit(false) before the first statement of the business transaction");
        }
        return new JoinedTransaction(connection);
    }

    @Override
    public <T> T unwrap(Class<T> type) {
        if (type.isInstance(connection)) {
            return type.cast(connection);
        }
        throw new IllegalArgumentException(
                "A joined transaction has a " + Connection.class.getName() + ", but no " + type.getName());
    }
}
