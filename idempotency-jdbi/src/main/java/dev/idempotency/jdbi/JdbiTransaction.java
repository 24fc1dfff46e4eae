package dev.idempotency.jdbi;

import dev.idempotency.internal.jdbc.GuardedConnection;
import dev.idempotency.internal.jdbc.TransactionFailureObserver;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One transaction of a {@link JdbiTransactionRunner}, confined to its thread. */
final class JdbiTransaction implements Transaction, TransactionFailureObserver {
    private static final Logger log = LoggerFactory.getLogger(JdbiTransaction.class);

    private final Thread thread = Thread.currentThread();
    private final GuardedConnection connection;
    private final TransactionLimits limits;
    private final Jdbi jdbi;
    private final List<Runnable> afterCommit = new ArrayList<>();

    private @Nullable Handle handle;
    private boolean ended;
    private boolean rollbackOnlyByWork;

    // Written by whichever thread user code lent the connection to.
    private volatile @Nullable SQLException firstFailure;
    private volatile boolean lost;

    JdbiTransaction(Connection raw, TransactionLimits limits, Jdbi jdbi) throws SQLException {
        this.connection = GuardedConnection.of(raw, this);
        this.limits = limits;
        this.jdbi = jdbi;
    }

    GuardedConnection connection() {
        return connection;
    }

    @Override
    public <T> T unwrap(Class<T> type) {
        requireRunning();
        if (type == Connection.class) {
            return type.cast(connection);
        }
        if (type == Handle.class) {
            return type.cast(handle());
        }
        throw new IllegalArgumentException("A transaction of JdbiTransactionRunner has a " + Connection.class.getName()
                + " and a " + Handle.class.getName() + ", but no " + type.getName());
    }

    private Handle handle() {
        Handle present = handle;
        if (present == null || present.isClosed()) {
            present = jdbi.open();
            if (present.getConnection() != connection) {
                present.close();
                throw new IllegalStateException("The runner's Jdbi opened a handle outside the transaction: make that"
                        + " Jdbi on the same JoiningDataSource that the runner was given");
            }
            handle = present;
        }
        return present;
    }

    @Override
    public void flush() {
        // Jdbi holds nothing back: each statement has been sent when its method returns.
    }

    @Override
    public void afterCommit(Runnable action) {
        requireRunning();
        afterCommit.add(Objects.requireNonNull(action, "action"));
    }

    @Override
    public void setRollbackOnly() {
        requireRunning();
        rollbackOnlyByWork = true;
    }

    @Override
    public boolean isRollbackOnly() {
        return rollbackOnlyByWork || lost;
    }

    @Override
    public TransactionLimits limits() {
        return limits;
    }

    @Override
    public synchronized void observe(SQLException failure, boolean rollbackOnly) {
        if (rollbackOnly && !lost) {
            lost = true;
            firstFailure = failure;
        } else if (firstFailure == null) {
            firstFailure = failure;
        }
    }

    boolean isRollbackOnlyByWork() {
        return rollbackOnlyByWork;
    }

    void closeHandle() {
        if (handle != null) {
            handle.close();
        }
    }

    void expire() {
        ended = true;
        connection.expire();
    }

    /**
     * Returns the error after which this transaction cannot last, if there was one.
     *
     * <p>After any error that the work has seen and swallowed, the server is asked: PostgreSQL has then aborted the
     * transaction, answers {@code COMMIT} with a rollback, and its driver's {@code commit()} returns normally.
     */
    @Nullable
    SQLException findLoss(Connection raw) {
        SQLException seen = firstFailure;
        if (seen == null || lost) {
            return lost ? seen : null;
        }
        try (Statement statement = raw.createStatement()) {
            statement.execute("SELECT 1");
            return null;
        } catch (SQLException e) {
            seen.addSuppressed(e);
            return seen;
        }
    }

    void runAfterCommit() {
        if (isRollbackOnly()) {
            return;
        }
        for (Runnable action : afterCommit) {
            try {
                action.run();
            } catch (RuntimeException e) {
                log.warn("An action after the commit failed; the commit stands", e);
            }
        }
    }

    private void requireRunning() {
        if (ended) {
            throw new IllegalStateException("The transaction has ended: use it inside the work only");
        }
        if (Thread.currentThread() != thread) {
            throw new IllegalStateException("The transaction of " + thread + " was used on " + Thread.currentThread()
                    + ": it stays on the thread that runs the work");
        }
    }
}
