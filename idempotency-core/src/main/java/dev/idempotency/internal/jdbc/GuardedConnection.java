package dev.idempotency.internal.jdbc;

import java.sql.Connection;
import java.sql.SQLClientInfoException;
import java.sql.SQLException;
import java.sql.ShardingKey;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The connection that user code gets inside a transaction; transaction runners make one per transaction.
 *
 * <p>Its transaction is ended by the owner alone:
 *
 * <ul>
 *   <li>{@code commit}, {@code rollback()}, {@code abort} and {@code setAutoCommit(true)} throw; {@code rollback()} and
 *       {@code abort} also make the transaction rollback-only. Savepoints are the user's and work as always.
 *   <li>{@code close} and {@code setAutoCommit(false)} do nothing, so that code made for a connection of its own runs
 *       unchanged.
 *   <li>What would outlive the transaction in the pool, or change the transaction under the library's own statements
 *       (isolation, read-only, holdability, catalog, schema, type map, client info, network time-out, sharding key),
 *       throws, unless it asks for what is already so.
 *   <li>Every {@link SQLException} thrown by the connection or by anything obtained from it goes to the {@link
 *       TransactionFailureObserver} first. Errors of class 40 and 08, also inside a chain, make the transaction
 *       rollback-only, even if user code swallows them.
 *   <li>After {@link #expire()} every use throws, also of statements, result sets and locators obtained before.
 * </ul>
 *
 * <p>SQL that begins or ends a transaction ({@code COMMIT}, {@code ROLLBACK}, {@code BEGIN} and the like, also behind a
 * semicolon) is refused and makes the transaction rollback-only; {@code ROLLBACK TO} a savepoint passes. What commits
 * without saying so is not seen: a procedure that does on MariaDB, DDL on MariaDB and H2, {@code EXECUTE IMMEDIATE}. The
 * store's last statement finds that the transaction is another one, but what was committed stays.
 *
 * <p>The statements and result sets lead back to this connection, never to the driver's. {@code unwrap} gives a
 * driver's own types (for PostgreSQL's COPY, for instance), but none that is a connection, a statement, a result set or
 * meta data: these lead around the guard. What is done through the others is seen by nobody here.
 *
 * <p>As safe for use by several threads as the driver's connection is.
 */
public final class GuardedConnection extends DelegatingConnection {
    private static final String SESSION_STATE = "it would change the transaction under the library's own statements or"
            + " outlive it in the connection pool. Set it on the DataSource, or for one statement";

    private GuardedConnection(Connection delegate, TransactionFailureObserver observer) {
        super(delegate, observer);
    }

    /**
     * Guards a connection whose transaction the caller owns and ends.
     *
     * @param connection the connection to guard, with autocommit off
     * @param observer who hears of failures
     * @return a connection for user code
     * @throws IllegalStateException if the connection is in autocommit: each statement would commit on its own
     * @throws SQLException if the connection does not answer
     */
    public static GuardedConnection of(Connection connection, TransactionFailureObserver observer) throws SQLException {
        Objects.requireNonNull(observer, "observer");
        if (connection.getAutoCommit()) {
            throw new IllegalStateException("A connection in autocommit was to be guarded, but each of its statements"
                    + " would commit on its own: call setAutoCommit(false) first");
        }
        return new GuardedConnection(connection, observer);
    }

    /**
     * Makes every further use of this connection, and of all that was obtained from it, throw.
     *
     * <p>The owner calls it once user code has returned, before its own last statement and before the connection goes
     * back to the pool. Doing so again changes nothing.
     */
    public void expire() {
        guard.end();
    }

    @Override
    public void commit() throws SQLException {
        guard.requireActive();
        throw guard.commitRefused("commit()");
    }

    @Override
    public void rollback() throws SQLException {
        guard.requireActive();
        throw guard.rollbackRefused("rollback()");
    }

    @Override
    public void abort(Executor executor) throws SQLException {
        guard.requireActive();
        throw guard.rollbackRefused("abort(executor)");
    }

    @Override
    public void setAutoCommit(boolean autoCommit) throws SQLException {
        guard.requireActive();
        if (autoCommit) {
            // JDBC: changing the mode during a transaction commits it.
            throw guard.commitRefused("setAutoCommit(true)");
        }
    }

    @Override
    public boolean getAutoCommit() throws SQLException {
        guard.requireActive();
        return false;
    }

    /** Does nothing: the owner gives the connection back. */
    @Override
    public void close() {
        // Code that opens and closes its own connection must run here unchanged.
    }

    @Override
    public boolean isClosed() throws SQLException {
        if (guard.hasEnded()) {
            return true;
        }
        try {
            return delegate.isClosed();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean isValid(int timeout) throws SQLException {
        if (guard.hasEnded()) {
            return false;
        }
        try {
            return delegate.isValid(timeout);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    /** Throws unless it is the present level: MariaDB would change the session's next transactions, H2 commits. */
    @Override
    public void setTransactionIsolation(int level) throws SQLException {
        requireSame(level, getTransactionIsolation(), "setTransactionIsolation");
    }

    @Override
    public void setReadOnly(boolean readOnly) throws SQLException {
        requireSame(readOnly, isReadOnly(), "setReadOnly");
    }

    @Override
    public void setHoldability(int holdability) throws SQLException {
        requireSame(holdability, getHoldability(), "setHoldability");
    }

    /** Throws unless it is the present one: the library's last statement would miss its tables. */
    @Override
    public void setCatalog(@Nullable String catalog) throws SQLException {
        requireSame(catalog, getCatalog(), "setCatalog");
    }

    /** Throws unless it is the present one: the library's last statement would miss its tables. */
    @Override
    public void setSchema(@Nullable String schema) throws SQLException {
        requireSame(schema, getSchema(), "setSchema");
    }

    @Override
    public void setTypeMap(@Nullable Map<String, Class<?>> map) throws SQLException {
        guard.requireActive();
        throw guard.refused("setTypeMap(map)", SESSION_STATE, Guard.ACTIVE_TRANSACTION);
    }

    @Override
    public void setClientInfo(@Nullable String name, @Nullable String value) throws SQLClientInfoException {
        throw clientInfoRefused();
    }

    @Override
    public void setClientInfo(@Nullable Properties properties) throws SQLClientInfoException {
        throw clientInfoRefused();
    }

    @Override
    public void setNetworkTimeout(Executor executor, int milliseconds) throws SQLException {
        requireSame(milliseconds, getNetworkTimeout(), "setNetworkTimeout");
    }

    @Override
    public void setShardingKey(@Nullable ShardingKey shardingKey) throws SQLException {
        throw shardingKeyRefused("setShardingKey");
    }

    @Override
    public void setShardingKey(@Nullable ShardingKey shardingKey, @Nullable ShardingKey superShardingKey)
            throws SQLException {
        throw shardingKeyRefused("setShardingKey");
    }

    @Override
    public boolean setShardingKeyIfValid(@Nullable ShardingKey shardingKey, int timeout) throws SQLException {
        throw shardingKeyRefused("setShardingKeyIfValid");
    }

    @Override
    public boolean setShardingKeyIfValid(
            @Nullable ShardingKey shardingKey, @Nullable ShardingKey superShardingKey, int timeout)
            throws SQLException {
        throw shardingKeyRefused("setShardingKeyIfValid");
    }

    /** Does nothing: the request is the pool's to begin. */
    @Override
    public void beginRequest() {
        // As close().
    }

    /** Does nothing: the request is the pool's to end. */
    @Override
    public void endRequest() {
        // As close().
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        guard.requireActive();
        if (type.isInstance(this)) {
            return type.cast(this);
        }
        guard.requireNoJdbcType(type);
        try {
            return delegate.unwrap(type);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        guard.requireActive();
        if (type.isInstance(this)) {
            return true;
        }
        try {
            return !guard.isJdbcType(type) && delegate.isWrapperFor(type);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String toString() {
        return "guarded " + delegate;
    }

    private void requireSame(@Nullable Object wanted, @Nullable Object present, String method) throws SQLException {
        if (!Objects.equals(wanted, present)) {
            throw guard.refused(
                    method + "(" + wanted + ") on a connection where it is " + present,
                    SESSION_STATE,
                    Guard.ACTIVE_TRANSACTION);
        }
    }

    private SQLException shardingKeyRefused(String method) throws SQLException {
        guard.requireActive();
        return guard.refused(method + "(key)", SESSION_STATE, Guard.ACTIVE_TRANSACTION);
    }

    private SQLClientInfoException clientInfoRefused() {
        SQLClientInfoException refusal = new SQLClientInfoException(
                "setClientInfo refused: " + SESSION_STATE, Guard.ACTIVE_TRANSACTION, Map.of());
        guard.report(refusal);
        return refusal;
    }
}
