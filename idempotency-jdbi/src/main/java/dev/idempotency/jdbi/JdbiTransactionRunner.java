package dev.idempotency.jdbi;

import dev.idempotency.IdempotencyException;
import dev.idempotency.StoreUnavailableException;
import dev.idempotency.transaction.CommitFailedException;
import dev.idempotency.transaction.JoiningDataSource;
import dev.idempotency.transaction.OutcomeUnknownException;
import dev.idempotency.transaction.RolledBackException;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import dev.idempotency.transaction.TransactionWork;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import javax.sql.DataSource;
import org.jdbi.v3.core.ConnectionFactory;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs transactions on a {@link DataSource}; applications make one per pool and give it to the engines.
 *
 * <p>Its transactions have a {@link Connection} and a Jdbi {@link Handle}, both guarded. Made on a {@link
 * JoiningDataSource}, it also hands its connection to all code that only knows that data source; without one, such code
 * would write outside the transaction.
 *
 * <p>The connection's autocommit mode is switched off for the transaction and then restored. No answer of the server is
 * waited for much longer than {@link TransactionLimits#statement()}: a little later the connection is given up. A
 * connection whose state is in doubt is closed and never returned to its pool. With PostgreSQL's driver, {@code
 * autosave=always} is refused with an {@link IllegalStateException} (rule T2).
 *
 * <p>Safe for use by many threads. It does not own the data source: whoever made that closes it.
 */
public final class JdbiTransactionRunner implements TransactionRunner {
    private static final Logger log = LoggerFactory.getLogger(JdbiTransactionRunner.class);

    private final DataSource dataSource;
    private final @Nullable JoiningDataSource joining;
    private final Jdbi jdbi;

    // One transaction per thread and runner, not one per virtual machine; hence not static.
    @SuppressWarnings("ThreadLocalUsage")
    private final ThreadLocal<@Nullable JdbiTransaction> current = new ThreadLocal<>();

    private JdbiTransactionRunner(DataSource dataSource, @Nullable Jdbi jdbi) {
        this.joining = dataSource instanceof JoiningDataSource wrapper ? wrapper : null;
        this.dataSource = joining == null ? Objects.requireNonNull(dataSource, "dataSource") : joining.delegate();
        this.jdbi = jdbi == null ? Jdbi.create((ConnectionFactory) this::currentConnection) : jdbi;
    }

    /**
     * Returns a runner whose handles come from a Jdbi with Jdbi's defaults.
     *
     * @param dataSource where connections come from; a {@link JoiningDataSource} is joined by the transactions
     * @return the runner
     */
    public static JdbiTransactionRunner of(DataSource dataSource) {
        return new JdbiTransactionRunner(dataSource, null);
    }

    /**
     * Returns a runner whose handles come from the application's own Jdbi, with its plugins and mappers.
     *
     * @param dataSource where connections come from
     * @param jdbi a Jdbi made on that same data source; made on another, its first handle in a transaction is refused
     *     with an {@link IllegalStateException}
     * @return the runner
     */
    public static JdbiTransactionRunner of(JoiningDataSource dataSource, Jdbi jdbi) {
        return new JdbiTransactionRunner(dataSource, Objects.requireNonNull(jdbi, "jdbi"));
    }

    @Override
    public <T extends @Nullable Object, X extends Exception> T run(TransactionLimits limits, TransactionWork<T, X> work)
            throws X {
        Objects.requireNonNull(limits, "limits");
        Objects.requireNonNull(work, "work");
        refuseNested();
        Session session = Session.open(dataSource, limits);
        JdbiTransaction transaction = begin(session, limits);
        T value;
        try {
            value = runBound(transaction, work);
        } catch (Throwable failure) {
            rollBack(session, failure);
            throw failure;
        }
        end(session, transaction);
        transaction.runAfterCommit();
        return value;
    }

    private void refuseNested() {
        if (isInTransaction()) {
            throw new IllegalStateException("A transaction was to begin on " + Thread.currentThread()
                    + ", which already runs one on this data source: two at once would not see each other's rows and"
                    + " could wait for each other for ever. Use the running one, or begin the other after it");
        }
    }

    private JdbiTransaction begin(Session session, TransactionLimits limits) {
        try {
            return new JdbiTransaction(session.connection(), limits, jdbi);
        } catch (SQLException e) {
            session.throwAway();
            throw new StoreUnavailableException(
                    "No transaction could be begun; the work did not run: repeat it later", e);
        } catch (RuntimeException e) {
            session.throwAway();
            throw e;
        }
    }

    private <T extends @Nullable Object, X extends Exception> T runBound(
            JdbiTransaction transaction, TransactionWork<T, X> work) throws X {
        current.set(transaction);
        try (JoiningDataSource.Binding binding = bind(transaction)) {
            T value = work.run(transaction);
            transaction.closeHandle();
            return value;
        } finally {
            current.remove();
            transaction.expire();
        }
    }

    private JoiningDataSource.@Nullable Binding bind(JdbiTransaction transaction) {
        return joining == null ? null : joining.bind(transaction.connection());
    }

    private void end(Session session, JdbiTransaction transaction) {
        if (transaction.isRollbackOnlyByWork()) {
            rollBack(session, null);
            return;
        }
        SQLException failure = transaction.findLoss(session.connection());
        if (failure != null) {
            RolledBackException rolledBack = new RolledBackException(
                    "The work returned, but its transaction had failed on the way and was rolled back: the first error"
                            + " is the cause. Let such an error pass out of the work, or use a savepoint",
                    failure);
            rollBack(session, rolledBack);
            throw rolledBack;
        }
        commit(session);
        session.giveBack();
    }

    private static void commit(Session session) {
        try {
            session.connection().commit();
        } catch (SQLException e) {
            throw afterFailedCommit(session, e);
        } catch (RuntimeException e) {
            session.throwAway();
            throw unknown(e);
        } catch (Error e) {
            session.throwAway();
            throw e;
        }
    }

    private static IdempotencyException afterFailedCommit(Session session, SQLException failure) {
        if (SqlErrors.isRefusedCommit(failure)) {
            CommitFailedException refused =
                    new CommitFailedException("The server refused the commit and rolled the transaction back", failure);
            rollBack(session, refused);
            return refused;
        }
        session.throwAway();
        return unknown(failure);
    }

    private static OutcomeUnknownException unknown(Throwable failure) {
        return new OutcomeUnknownException(
                "The commit was sent and no clear answer came; the connection has been closed: look the record up"
                        + " before taking the work for failed",
                failure);
    }

    /** Gives the connection back if its rollback succeeded; a connection that cannot roll back is nobody's any more. */
    private static void rollBack(Session session, @Nullable Throwable reason) {
        try {
            session.connection().rollback();
        } catch (SQLException | RuntimeException e) {
            session.throwAway();
            if (reason == null) {
                log.debug("A rollback failed; the connection has been closed, so the server rolls back", e);
            } else {
                reason.addSuppressed(e);
            }
            return;
        }
        session.giveBack();
    }

    private Connection currentConnection() {
        JdbiTransaction transaction = current.get();
        if (transaction == null) {
            throw new IllegalStateException("A handle was to be opened outside the work of a transaction");
        }
        return transaction.connection();
    }

    /** Tells whether the calling thread runs a transaction of this runner, or one on its joining data source. */
    boolean isInTransaction() {
        return current.get() != null || (joining != null && joining.isInTransaction());
    }

    @Override
    public String toString() {
        return "JdbiTransactionRunner[" + dataSource + "]";
    }
}
