package dev.idempotency.verification.matrix;

import dev.idempotency.StoreUnavailableException;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import dev.idempotency.transaction.TransactionWork;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A runner as applications write one: nobody watches the connection, and the commit is sent as a statement, to which
 * PostgreSQL answers without an error although it rolls a failed transaction back.
 */
record CarelessRunner(DataSource dataSource) implements TransactionRunner {
    @Override
    public <T extends @Nullable Object, X extends Exception> T run(TransactionLimits limits, TransactionWork<T, X> work)
            throws X {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            T value = work.run(new Open(connection, limits));
            try (Statement statement = connection.createStatement()) {
                statement.execute("COMMIT");
            }
            return value;
        } catch (SQLException e) {
            throw new StoreUnavailableException("The careless runner failed", e);
        }
    }

    private record Open(Connection connection, TransactionLimits limits) implements Transaction {
        @Override
        public <R> R unwrap(Class<R> type) {
            return type.cast(connection);
        }

        @Override
        public void flush() {}

        @Override
        public void afterCommit(Runnable action) {}

        @Override
        public void setRollbackOnly() {}

        @Override
        public boolean isRollbackOnly() {
            return false;
        }
    }
}
