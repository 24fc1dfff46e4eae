package dev.idempotency.internal.jdbc;

import dev.idempotency.internal.SqlFailures;
import java.sql.Array;
import java.sql.Blob;
import java.sql.CallableStatement;
import java.sql.Clob;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.NClob;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLNonTransientException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransactionRollbackException;
import java.sql.SQLTransientConnectionException;
import java.sql.SQLXML;
import java.sql.Statement;
import java.sql.Wrapper;
import org.jspecify.annotations.Nullable;

/**
 * What all objects of one guarded connection share: whether the transaction still runs, who hears of failures, and how
 * a driver's object is wrapped.
 */
final class Guard {
    /** SQL standard: invalid transaction termination. */
    private static final String INVALID_TERMINATION = "2D000";

    /** SQL standard: invalid transaction state, an SQL transaction being active. */
    static final String ACTIVE_TRANSACTION = "25001";

    /** SQL standard: invalid transaction state. Not class 08, which callers would take for a lost server and retry. */
    private static final String INVALID_TRANSACTION_STATE = "25000";

    /** SQL standard: feature not supported. */
    private static final String FEATURE_NOT_SUPPORTED = "0A000";

    /** Chains may be as long as a batch, and nothing forbids that they are circular. */
    private static final int LONGEST_CHAIN = 1_000;

    private final Connection connection;
    private final TransactionFailureObserver observer;

    /** Volatile, because a thread that user code started may still hold a statement when the transaction ends. */
    private volatile boolean ended;

    Guard(Connection connection, TransactionFailureObserver observer) {
        this.connection = connection;
        this.observer = observer;
    }

    Connection connection() {
        return connection;
    }

    void end() {
        ended = true;
    }

    boolean hasEnded() {
        return ended;
    }

    void requireActive() throws SQLException {
        if (ended) {
            throw new SQLNonTransientException(
                    "The transaction to which this connection belonged has ended, and the connection now serves others:"
                            + " use it, its statements and its result sets only inside the work, on its thread",
                    INVALID_TRANSACTION_STATE);
        }
    }

    void report(SQLException failure) {
        if (!ended) {
            observer.observe(failure, endsTransaction(failure));
        }
    }

    /** Refuses what leaves the transaction as it is: the caller may go on. */
    SQLException refused(String attempt, String reasonAndCure, String sqlState) {
        SQLException refusal = new SQLNonTransientException(attempt + " refused: " + reasonAndCure, sqlState);
        report(refusal);
        return refusal;
    }

    SQLException commitRefused(String attempt) {
        return refused(
                attempt,
                "the transaction is committed by its owner, together with the library's own record, once the work has"
                        + " returned. Return from the work to commit",
                INVALID_TERMINATION);
    }

    /**
     * Refuses a rollback and has the owner do it: code that asks for a rollback and then swallows this exception must
     * not see its rows committed.
     */
    SQLException rollbackRefused(String attempt) {
        SQLException refusal = new SQLNonTransientException(
                attempt + " refused: the transaction is ended by its owner, which will now roll it back in any case."
                        + " Throw from the work or call setRollbackOnly() on the Transaction instead; to undo a part,"
                        + " use a savepoint",
                INVALID_TERMINATION);
        if (!ended) {
            observer.observe(refusal, true);
        }
        return refusal;
    }

    /**
     * Refuses SQL that would begin or end a transaction, and has the owner roll back: whoever swallows the refusal goes
     * on in the belief that what came before is committed, or undone.
     */
    void requireNoTransactionControl(@Nullable String sql) throws SQLException {
        String kind = TransactionControl.find(sql, this::isMariaDb);
        if (kind != null) {
            SQLException refusal = new SQLNonTransientException(
                    "The statement " + kind + " refused: the transaction is begun and ended by its owner, together with"
                            + " the library's own record, and will now be rolled back in any case. Take the statement"
                            + " out; return from the work to commit, throw from it to roll back, and use a savepoint to"
                            + " undo a part",
                    INVALID_TERMINATION);
            observer.observe(refusal, true);
            throw refusal;
        }
    }

    private boolean isMariaDb() throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName();
        return product.equals("MariaDB") || product.equals("MySQL");
    }

    /** Refuses a driver's own connection, statement, result set or meta data: each leads around this guard. */
    void requireNoJdbcType(Class<?> type) throws SQLException {
        if (isJdbcType(type)) {
            throw refused(
                    "unwrap(" + type.getName() + ".class)",
                    "it would give a driver's object that leads around the guard, with which the transaction can be"
                            + " ended behind its owner's back. Use the object as it is, or unwrap an interface of the"
                            + " driver that is none of JDBC's, such as org.postgresql.PGConnection",
                    FEATURE_NOT_SUPPORTED);
        }
    }

    boolean isJdbcType(Class<?> type) {
        return Wrapper.class.isAssignableFrom(type);
    }

    /**
     * Tells whether the server may have ended the transaction on its own. After such an error MariaDB and H2 go on in a
     * new transaction as if nothing had happened, so it must be remembered here.
     *
     * <p>Class 25 is not among them: 25P02 says that PostgreSQL waits for a rollback, which may be one to a savepoint.
     */
    private static boolean endsTransaction(SQLException failure) {
        int links = 0;
        // Iterates over the causes and over getNextException, where a batch keeps the errors of its statements.
        for (Throwable link : failure) {
            if (link instanceof SQLException error && endsTransaction(error, error.getSQLState())) {
                return true;
            }
            links++;
            if (links == LONGEST_CHAIN) {
                return true;
            }
        }
        return false;
    }

    private static boolean endsTransaction(SQLException error, @Nullable String sqlState) {
        if (sqlState != null && (sqlState.startsWith("40") || sqlState.startsWith("08"))) {
            return true;
        }
        if (SqlFailures.isSnapshotLost(error)) {
            return true;
        }
        // The same two classes by JDBC's own types: some errors carry a vendor's state (H2: 90067) or none.
        return error instanceof SQLTransactionRollbackException
                || error instanceof SQLNonTransientConnectionException
                || error instanceof SQLTransientConnectionException
                || error instanceof SQLRecoverableException;
    }

    Statement statement(Statement statement) {
        return new GuardedStatement(this, statement);
    }

    PreparedStatement preparedStatement(PreparedStatement statement) {
        return new GuardedPreparedStatement(this, statement);
    }

    CallableStatement callableStatement(CallableStatement statement) {
        return new GuardedCallableStatement(this, statement);
    }

    DatabaseMetaData metaData(DatabaseMetaData metaData) {
        return new GuardedDatabaseMetaData(this, metaData);
    }

    @Nullable
    ResultSet resultSet(@Nullable ResultSet resultSet) {
        return resultSet(resultSet, null);
    }

    @Nullable
    ResultSet resultSet(@Nullable ResultSet resultSet, @Nullable Statement owner) {
        return resultSet == null ? null : new GuardedResultSet(this, resultSet, owner);
    }

    /** The statement of a result set: the guarded one that user code has, else one around the driver's. */
    @Nullable
    Statement ownerOf(@Nullable Statement driverStatement, @Nullable Statement owner) {
        if (driverStatement == null || owner != null) {
            return owner;
        }
        if (driverStatement instanceof CallableStatement callable) {
            return callableStatement(callable);
        }
        if (driverStatement instanceof PreparedStatement prepared) {
            return preparedStatement(prepared);
        }
        return statement(driverStatement);
    }

    @Nullable
    Blob blob(@Nullable Blob blob) {
        return blob == null ? null : new GuardedBlob(this, blob);
    }

    @Nullable
    Clob clob(@Nullable Clob clob) {
        if (clob instanceof NClob nclob) {
            return nclob(nclob);
        }
        return clob == null ? null : new GuardedClob(this, clob);
    }

    @Nullable
    NClob nclob(@Nullable NClob nclob) {
        return nclob == null ? null : new GuardedNClob(this, nclob);
    }

    @Nullable
    SQLXML sqlxml(@Nullable SQLXML sqlxml) {
        return sqlxml == null ? null : new GuardedSQLXML(this, sqlxml);
    }

    @Nullable
    Array array(@Nullable Array array) {
        return array == null ? null : new GuardedArray(this, array);
    }

    @Nullable
    Object object(@Nullable Object value) {
        // What columns hold as a rule is told apart first.
        if (value == null || value instanceof String || value instanceof Number) {
            return value;
        }
        if (value instanceof ResultSet cursor) {
            return resultSet(cursor);
        }
        if (value instanceof Array array) {
            return array(array);
        }
        if (value instanceof Blob blob) {
            return blob(blob);
        }
        if (value instanceof Clob clob) {
            return clob(clob);
        }
        return value instanceof SQLXML sqlxml ? sqlxml(sqlxml) : value;
    }

    /** As {@link #object(Object)}, unless the caller asked for a driver's own class. */
    <T> @Nullable T object(@Nullable T value, Class<T> type) {
        Object guarded = object(value);
        return type.isInstance(guarded) ? type.cast(guarded) : value;
    }
}
