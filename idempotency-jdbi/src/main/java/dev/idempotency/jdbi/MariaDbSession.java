package dev.idempotency.jdbi;

import dev.idempotency.transaction.TransactionLimits;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;

/**
 * What the stores ask of a session of MariaDB, and its limits (rule T9): the wait for a lock, the length of a statement
 * and the idleness within a transaction. They are the session's and not the transaction's, so what was there is put back;
 * one query reads them, and where the pool's
 * sessions have them already, nothing is set.
 */
final class MariaDbSession {
    /** The time of a statement in UTC, which no time zone changes. */
    static final String NOW = "UTC_TIMESTAMP(6)";

    private static final String READ = """
            SELECT @@innodb_lock_wait_timeout, @@max_statement_time, @@idle_transaction_timeout
            """;

    private final long lockWaitSeconds;
    private final BigDecimal statementSeconds;
    private final long idleSeconds;

    private MariaDbSession(long lockWaitSeconds, BigDecimal statementSeconds, long idleSeconds) {
        this.lockWaitSeconds = lockWaitSeconds;
        this.statementSeconds = statementSeconds;
        this.idleSeconds = idleSeconds;
    }

    /** Sets the limits of a session and returns what to restore; empty if there is nothing to be set. */
    static Optional<MariaDbSession> putInForce(Connection connection, TransactionLimits limits) throws SQLException {
        if (!SqlDialect.MARIADB.isThatOf(connection)) {
            return Optional.empty();
        }
        MariaDbSession before = read(connection);
        MariaDbSession asked = new MariaDbSession(
                secondsRoundedUp(limits.lockWait()),
                BigDecimal.valueOf(limits.statement().toMillis(), 3),
                secondsRoundedUp(limits.idle()));
        if (asked.isSameAs(before)) {
            return Optional.empty();
        }
        asked.set(connection);
        return Optional.of(before);
    }

    private static MariaDbSession read(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(READ)) {
            row.next();
            return new MariaDbSession(row.getLong(1), row.getBigDecimal(2), row.getLong(3));
        }
    }

    private static long secondsRoundedUp(Duration duration) {
        return duration.plusNanos(999_999_999).toSeconds();
    }

    private boolean isSameAs(MariaDbSession other) {
        return lockWaitSeconds == other.lockWaitSeconds
                && statementSeconds.compareTo(other.statementSeconds) == 0
                && idleSeconds == other.idleSeconds;
    }

    /** Sets the session to these limits. */
    void set(Connection connection) throws SQLException {
        execute(
                connection,
                "SET SESSION innodb_lock_wait_timeout = " + lockWaitSeconds + ", max_statement_time = "
                        + statementSeconds.toPlainString() + ", idle_transaction_timeout = " + idleSeconds);
    }

    /** What stands before a store's first statement in a transaction whose session somebody else has prepared. */
    static String limited(TransactionLimits limits, String statement) {
        return "SET STATEMENT innodb_lock_wait_timeout = " + secondsRoundedUp(limits.lockWait())
                + ", max_statement_time = "
                + BigDecimal.valueOf(limits.statement().toMillis(), 3).toPlainString() + " FOR " + statement;
    }

    /**
     * Makes the transaction that begins now READ COMMITTED, and none after it. At REPEATABLE READ InnoDB locks the gaps
     * between rows too, and a relay would hold up, or deadlock with, everybody who appends.
     *
     * @throws SQLException with state 25001 if the transaction has begun already
     */
    static void readCommitted(Connection connection) throws SQLException {
        execute(connection, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
    }

    /**
     * Refuses settings under which a guarantee would not hold.
     *
     * @throws IllegalStateException if there is one; the message names it and the cure
     */
    static void refuseUnsafe(Connection connection) throws SQLException {
        refuseOption(
                connection,
                "transactionReplay",
                "a transaction whose connection is lost would be run again behind the library's back, its proofs with it");
        refuseOption(connection, "useBulkStmts", "updates in a batch would not say how many rows they changed");
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT @@innodb_rollback_on_timeout, @@sql_mode")) {
            row.next();
            if (row.getInt(1) != 0) {
                throw new IllegalStateException("The server has innodb_rollback_on_timeout=ON: a lock that is not given"
                        + " in time would undo what came before it, and the transaction would go on without it. Set it"
                        + " to OFF, the server's default");
            }
            String mode = row.getString(2);
            if (!mode.contains("STRICT_TRANS_TABLES") && !mode.contains("STRICT_ALL_TABLES")) {
                throw new IllegalStateException("The sessions have sql_mode=" + mode + ": values that do not fit would"
                        + " be cut and not refused. Add STRICT_TRANS_TABLES, which is in the server's default");
            }
        }
    }

    /** The driver's URL names every option that is not at its default, wherever it was set. */
    private static void refuseOption(Connection connection, String option, String consequence) throws SQLException {
        String url = connection.getMetaData().getURL();
        if (url != null && url.contains(option + "=true")) {
            throw new IllegalStateException("The connections to MariaDB have " + option + "=true: " + consequence
                    + ". Leave it at its default, false");
        }
    }

    private static void execute(Connection connection, String command) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(command);
        }
    }
}
