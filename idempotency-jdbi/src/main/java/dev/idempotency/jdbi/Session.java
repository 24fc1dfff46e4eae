package dev.idempotency.jdbi;

import dev.idempotency.StoreUnavailableException;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A connection taken from the pool for one transaction, and what must be restored before it goes back. */
final class Session {
    private static final Logger log = LoggerFactory.getLogger(Session.class);

    /** What the server needs to notice its own statement time-out and to answer. */
    private static final Duration ANSWER_MARGIN = Duration.ofSeconds(5);

    private static final int UNKNOWN = -1;

    private final DataSource dataSource;
    private final Connection connection;
    private boolean autoCommit;
    private int networkTimeout = UNKNOWN;
    private @Nullable Limits limitsBefore;

    private Session(DataSource dataSource, Connection connection) {
        this.dataSource = dataSource;
        this.connection = connection;
    }

    /**
     * Takes a connection and prepares it for a transaction.
     *
     * @throws StoreUnavailableException if there is none or it does not answer; nothing is left open
     * @throws IllegalStateException if the connection would undo failed statements behind the library's back
     */
    static Session open(DataSource dataSource, TransactionLimits limits) {
        Connection connection;
        try {
            connection = dataSource.getConnection();
        } catch (SQLException e) {
            throw new StoreUnavailableException(
                    "No connection to the database could be had; nothing ran: repeat it later", e);
        }
        Session session = new Session(dataSource, connection);
        try {
            session.prepare(limits);
            return session;
        } catch (SQLException e) {
            session.throwAway();
            throw new StoreUnavailableException(
                    "No transaction could be begun on a connection of the pool; nothing ran: repeat it later", e);
        } catch (RuntimeException e) {
            session.throwAway();
            throw e;
        }
    }

    private void prepare(TransactionLimits limits) throws SQLException {
        Autosave.refuseAlways(connection);
        autoCommit = connection.getAutoCommit();
        if (autoCommit) {
            connection.setAutoCommit(false);
        }
        boundWaitForAnswers(limits);
        // PostgreSQL is told by a store's first statement, for the transaction alone.
        limitsBefore = putInForce(limits);
    }

    private @Nullable Limits putInForce(TransactionLimits limits) throws SQLException {
        Optional<H2Limits> h2 = H2Limits.putInForce(connection, limits);
        if (h2.isPresent()) {
            return h2.get()::set;
        }
        Optional<MariaDbSession> mariaDb = MariaDbSession.putInForce(connection, limits);
        return mariaDb.isPresent() ? mariaDb.get()::set : null;
    }

    /** Limits that a session had before. */
    @FunctionalInterface
    private interface Limits {
        void set(Connection connection) throws SQLException;
    }

    /** The server bounds its statements; the wait for an answer that a dead network swallowed is bounded only here. */
    private void boundWaitForAnswers(TransactionLimits limits) throws SQLException {
        int bound = Math.toIntExact(limits.statement().plus(ANSWER_MARGIN).toMillis());
        try {
            int present = connection.getNetworkTimeout();
            if (present == 0 || present > bound) {
                connection.setNetworkTimeout(Runnable::run, bound);
                networkTimeout = present;
            }
        } catch (SQLFeatureNotSupportedException e) {
            log.debug("The driver has no network time-out: the wait for an answer is bounded by the server alone", e);
        }
    }

    Connection connection() {
        return connection;
    }

    /** Returns the connection to its pool as it came; one that cannot be restored is thrown away. */
    void giveBack() {
        try {
            if (networkTimeout != UNKNOWN) {
                connection.setNetworkTimeout(Runnable::run, networkTimeout);
            }
            if (limitsBefore != null) {
                limitsBefore.set(connection);
            }
            if (autoCommit) {
                connection.setAutoCommit(true);
            }
            connection.close();
        } catch (SQLException | RuntimeException e) {
            log.debug("A connection could not be given back as it came and has been closed", e);
            throwAway();
        }
    }

    /** Closes the connection for good, so that the server rolls back what is open and no pool hands it out again. */
    void throwAway() {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException | RuntimeException e) {
            log.debug("A connection could not be aborted; it is closed instead", e);
        }
        HikariEviction.evict(dataSource, connection);
        try {
            connection.close();
        } catch (SQLException | RuntimeException e) {
            log.debug("An aborted connection complained on close, as many drivers do", e);
        }
    }
}
