package dev.idempotency.jdbi;

import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import dev.idempotency.transaction.TransactionWork;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A runner that trusts the work and the driver: what remains of the protection is the store's own. */
final class Unguarded implements TransactionRunner {
    private final DataSource dataSource;

    Unguarded(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    @Override
    public <T extends @Nullable Object, X extends Exception> T run(TransactionLimits limits, TransactionWork<T, X> work)
            throws X {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            T value = work.run(new Raw(connection, limits));
            connection.commit();
            return value;
        } catch (SQLException e) {
            throw SqlErrors.translate("The transaction of the test", e);
        }
    }

    private record Raw(Connection connection, TransactionLimits limits) implements Transaction {
        @Override
        public <T> T unwrap(Class<T> type) {
            return type.cast(connection);
        }

        @Override
        public void flush() {
            // Nothing is held back.
        }

        @Override
        public void afterCommit(Runnable action) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void setRollbackOnly() {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isRollbackOnly() {
            return false;
        }
    }
}
