package dev.idempotency.transaction;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.SQLNonTransientException;
import java.util.Objects;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The data source to give to code that only knows a {@link DataSource} (Jdbi, jOOQ, JdbcTemplate, repositories), so
 * that it takes part in the library's transactions; applications make one around their pool.
 *
 * <p>On a thread that runs a transaction on this data source, {@link #getConnection()} returns the transaction's
 * guarded connection: what is written through it commits or rolls back with the transaction, {@code close()} does
 * nothing and {@code commit()} throws. Elsewhere it returns a connection of the pool.
 *
 * <p><strong>A transaction belongs to its thread.</strong> Work that a transaction's code hands to another thread (an
 * executor, a parallel stream, a {@code CompletableFuture}) gets a connection of the pool there. It runs outside the
 * transaction: it commits on its own, does not see the transaction's rows, is not undone with them, and is done again
 * when the work is repeated. Write on the thread that runs the work.
 *
 * <p><strong>Make one per pool</strong>, give it to the transaction runner and to everything that writes. Code that
 * holds the pool itself, or a second instance around it, writes outside the transaction.
 *
 * <p>Safe for use by many threads. It does not own the pool: whoever made that closes it.
 */
public final class JoiningDataSource implements DataSource {
    private final DataSource delegate;

    // A transaction is joined on one data source and not on all of the JVM, hence not static. Not inheritable: a
    // connection must not be used by two threads at once.
    @SuppressWarnings("ThreadLocalUsage")
    private final ThreadLocal<@Nullable Binding> current = new ThreadLocal<>();

    private JoiningDataSource(DataSource delegate) {
        this.delegate = delegate;
    }

    /**
     * Wraps a pool.
     *
     * @param dataSource where connections come from outside a transaction
     * @return a data source for the runner and for all code that writes; the argument itself if it is one already,
     *     since code using the inner one would write outside the transactions of the outer
     */
    public static JoiningDataSource of(DataSource dataSource) {
        if (dataSource instanceof JoiningDataSource joining) {
            return joining;
        }
        return new JoiningDataSource(Objects.requireNonNull(dataSource, "dataSource"));
    }

    /**
     * Returns what was wrapped, for whoever needs a connection outside any transaction: transaction runners above all.
     *
     * @return the data source given to {@link #of}
     */
    public DataSource delegate() {
        return delegate;
    }

    /**
     * Tells whether the calling thread is inside a transaction on this data source.
     *
     * @return true if {@link #getConnection()} joins one here
     */
    public boolean isInTransaction() {
        return current.get() != null;
    }

    /**
     * Has {@link #getConnection()} return this connection to the calling thread until the binding is closed;
     * transaction runners call it around the work.
     *
     * @param connection the transaction's connection, guarded: it must survive {@code close()} and refuse {@code
     *     commit()}, as callers will try both
     * @return the binding, to be closed on the same thread before the connection is given back
     * @throws IllegalStateException if this thread is inside a transaction on this data source already
     */
    public Binding bind(Connection connection) {
        Objects.requireNonNull(connection, "connection");
        if (isInTransaction()) {
            throw new IllegalStateException("A transaction was to begin on " + Thread.currentThread()
                    + ", which already runs one on this data source: two at once would not see each other's rows and"
                    + " could wait for each other for ever. Use the running one, or begin the other after it");
        }
        Binding binding = new Binding(this, connection, Thread.currentThread());
        current.set(binding);
        return binding;
    }

    /**
     * Returns the current transaction's connection, or one of the pool if this thread is in no transaction.
     *
     * @return a connection, to be closed by the caller in both cases
     * @throws SQLException if the pool has none, or if the transaction of this thread has ended but its runner has not
     *     yet given the thread free: a connection of the pool would then go unnoticed
     */
    @Override
    public Connection getConnection() throws SQLException {
        Binding binding = current.get();
        if (binding == null) {
            return delegate.getConnection();
        }
        if (binding.connection.isClosed()) {
            throw new SQLNonTransientException(
                    "A connection was asked for on " + Thread.currentThread() + ", whose transaction has ended but is"
                            + " still bound to it: use it inside the work, or after the runner has returned",
                    "25000");
        }
        return binding.connection;
    }

    /**
     * Returns a connection of the pool for another user; refused inside a transaction, which has the user it began
     * with.
     *
     * @throws SQLException if the pool has none, or if this thread is inside a transaction
     */
    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        if (isInTransaction()) {
            throw new SQLNonTransientException(
                    "A connection for a named user was asked for inside a transaction, where it would be outside of it:"
                            + " call getConnection() to take part in the transaction, or another data source to stay"
                            + " outside",
                    "25001");
        }
        return delegate.getConnection(username, password);
    }

    @Override
    public PrintWriter getLogWriter() throws SQLException {
        return delegate.getLogWriter();
    }

    @Override
    public void setLogWriter(@Nullable PrintWriter out) throws SQLException {
        delegate.setLogWriter(out);
    }

    @Override
    public int getLoginTimeout() throws SQLException {
        return delegate.getLoginTimeout();
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        delegate.setLoginTimeout(seconds);
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        return delegate.getParentLogger();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        if (type.isInstance(this)) {
            return type.cast(this);
        }
        return type.isInstance(delegate) ? type.cast(delegate) : delegate.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return type.isInstance(this) || type.isInstance(delegate) || delegate.isWrapperFor(type);
    }

    @Override
    public String toString() {
        return "joining " + delegate;
    }

    // createConnectionBuilder() keeps its default, which throws: a builder made here could be used inside a transaction
    // later on and would build a connection outside of it.

    /** A transaction's hold on its thread; transaction runners close it when the work has ended. */
    public static final class Binding implements AutoCloseable {
        private final JoiningDataSource dataSource;
        private final Connection connection;
        private final Thread thread;

        private Binding(JoiningDataSource dataSource, Connection connection, Thread thread) {
            this.dataSource = dataSource;
            this.connection = connection;
            this.thread = thread;
        }

        /**
         * Gives the thread free. Doing so again changes nothing.
         *
         * @throws IllegalStateException if called on another thread than {@link JoiningDataSource#bind} was: the
         *     binding stays
         */
        @Override
        public void close() {
            if (Thread.currentThread() != thread) {
                throw new IllegalStateException("The binding of " + thread + " was to be closed on "
                        + Thread.currentThread() + ", from where it cannot be undone: close it where bind was called");
            }
            if (dataSource.current.get() == this) {
                dataSource.current.remove();
            }
        }
    }
}
