package dev.idempotency.jdbi;

import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;

/**
 * Puts {@link TransactionLimits} in force on H2 as far as it knows them (rule T9): the wait for locks and the length of a
 * statement. H2 sets them per session and not per transaction, so what was there is put back.
 */
final class H2Limits {
    private static final String READ = """
            SELECT LOCK_TIMEOUT(), COALESCE((
            SELECT CAST(SETTING_VALUE AS BIGINT)
            FROM INFORMATION_SCHEMA.SETTINGS
            WHERE SETTING_NAME = 'QUERY_TIMEOUT'), 0)
            """;

    private final int lockTimeout;
    private final int queryTimeout;

    private H2Limits(int lockTimeout, int queryTimeout) {
        this.lockTimeout = lockTimeout;
        this.queryTimeout = queryTimeout;
    }

    /** Sets the limits of a session and returns what to restore; empty, and nothing done, on another database. */
    static Optional<H2Limits> putInForce(Connection connection, TransactionLimits limits) throws SQLException {
        if (!SqlDialect.H2.isThatOf(connection)) {
            return Optional.empty();
        }
        H2Limits before;
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(READ)) {
            row.next();
            before = new H2Limits(row.getInt(1), row.getInt(2));
        }
        new H2Limits(milliseconds(limits.lockWait()), milliseconds(limits.statement())).set(connection);
        return Optional.of(before);
    }

    private static int milliseconds(Duration duration) {
        return Math.toIntExact(duration.toMillis());
    }

    /** Sets the session to these limits. */
    void set(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET LOCK_TIMEOUT " + lockTimeout);
            statement.execute("SET QUERY_TIMEOUT " + queryTimeout);
        }
    }
}
