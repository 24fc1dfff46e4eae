package dev.idempotency.jdbi;

import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionContext;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** What every store of this module is built on: its database, checked, and transactions of the store's own. */
final class StoreDatabase {
    private final JdbiTransactionRunner runner;
    private final SqlDialect dialect;
    private final TableNames names;

    private StoreDatabase(JdbiTransactionRunner runner, SqlDialect dialect, TableNames names) {
        this.runner = runner;
        this.dialect = dialect;
        this.names = names;
    }

    /**
     * Looks at the database and at the tables of a subject.
     *
     * @throws dev.idempotency.SchemaException if a table, a column or a unique index is missing
     * @throws dev.idempotency.StoreUnavailableException if the database does not answer
     * @throws IllegalArgumentException if it is of a kind this module does not know
     */
    static StoreDatabase connect(DataSource dataSource, TableNames names, SchemaSubject subject) {
        JdbiTransactionRunner runner = JdbiTransactionRunner.of(dataSource);
        SqlDialect dialect = runner.run(TransactionLimits.ofDefaults(), transaction -> {
            transaction.setRollbackOnly();
            try {
                return look(transaction.unwrap(Connection.class), names, subject);
            } catch (SQLException e) {
                throw SqlErrors.translate("The look at the store's tables", e);
            }
        });
        return new StoreDatabase(runner, dialect, names);
    }

    private static SqlDialect look(Connection connection, TableNames names, SchemaSubject subject) throws SQLException {
        SqlDialect dialect = SqlDialect.detect(connection);
        if (dialect == SqlDialect.MARIADB) {
            MariaDbSession.refuseUnsafe(connection);
        }
        SchemaCheck.verify(connection, dialect, names, subject);
        return dialect;
    }

    SqlDialect dialect() {
        return dialect;
    }

    TableNames names() {
        return names;
    }

    /** Where a table of the store is, as one of its own connections sees it now. */
    String location(String table) {
        return inOwnTransaction(
                "The look where the store is", TransactionLimits.ofDefaults(), (transaction, connection) -> {
                    transaction.setRollbackOnly();
                    return location(connection, table);
                });
    }

    /** Where a table of the store would be in a transaction of somebody else's. */
    String location(TransactionContext transaction, String table) {
        try {
            return location(transaction.unwrap(Connection.class), table);
        } catch (SQLException e) {
            throw SqlErrors.translate("The look where a transaction is", e);
        }
    }

    private String location(Connection connection, String table) throws SQLException {
        SqlDialect found = SqlDialect.detect(connection);
        try (PreparedStatement statement =
                connection.prepareStatement(SchemaSql.of(found).location())) {
            statement.setString(1, names.table(table));
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                return rows.getString(1);
            }
        }
    }

    /**
     * Runs statements of the store in a short transaction of its own.
     *
     * @param attempted what is attempted, as the beginning of a sentence for people
     * @throws IllegalStateException if this thread is inside a transaction on the store's data source
     */
    <T extends @Nullable Object> T inOwnTransaction(String attempted, TransactionLimits limits, SqlWork<T> work) {
        return runner.run(
                limits,
                transaction -> join(attempted, transaction, (own, connection) -> {
                    dialect.begin(connection);
                    return work.run(own, connection);
                }));
    }

    /** Runs statements of the store in the transaction of whoever calls it, and translates their failures. */
    <T extends @Nullable Object> T join(String attempted, Transaction transaction, SqlWork<T> work) {
        try {
            return work.run(transaction, connection(transaction));
        } catch (SQLException e) {
            throw SqlErrors.translate(attempted, e);
        }
    }

    /** The connection of a transaction, for the store's own statements. */
    Connection connection(TransactionContext transaction) {
        return dialect.adapt(transaction.unwrap(Connection.class));
    }

    /** Statements on the guarded connection of a transaction. */
    @FunctionalInterface
    interface SqlWork<T extends @Nullable Object> {
        T run(Transaction transaction, Connection connection) throws SQLException;
    }
}
