package dev.idempotency.jdbi;

import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts {@link TransactionLimits} in force on PostgreSQL as part of a store's first statement (rule T9).
 *
 * <p>All of it is set for the transaction alone, by {@code set_config(…, true)}: nothing is left behind in the pool, and
 * a pooler between here and the server that shares sessions by transaction sees nothing unusual.
 */
final class PostgreSqlLimits {
    private static final Logger log = LoggerFactory.getLogger(PostgreSqlLimits.class);

    /**
     * How the server notices that its client is gone while a statement runs; not every platform and every kind of
     * connection has all of them. While no statement runs, the limit on idleness does it.
     */
    private static final Map<String, String> OPTIONAL = new TreeMap<>(Map.of(
            "client_connection_check_interval", "1000",
            "tcp_keepalives_idle", "5",
            "tcp_keepalives_interval", "2",
            "tcp_keepalives_count", "3"));

    private final String columns;

    private PostgreSqlLimits(String columns) {
        this.columns = columns;
    }

    /**
     * Finds out which settings this server knows.
     *
     * @param connection a connection inside a transaction; the settings last until its end
     */
    static PostgreSqlLimits probe(Connection connection) throws SQLException {
        List<String> columns = new ArrayList<>();
        for (String required : List.of("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")) {
            columns.add("set_config('" + required + "', ?, true)");
        }
        for (Map.Entry<String, String> setting : OPTIONAL.entrySet()) {
            String column = "set_config('" + setting.getKey() + "', '" + setting.getValue() + "', true)";
            if (isAccepted(connection, column)) {
                columns.add(column);
            }
        }
        return new PostgreSqlLimits(columns.stream().collect(Collectors.joining(",\n")));
    }

    private static boolean isAccepted(Connection connection, String column) throws SQLException {
        Savepoint savepoint = connection.setSavepoint();
        try (PreparedStatement statement = connection.prepareStatement("SELECT " + column)) {
            statement.execute();
            return true;
        } catch (SQLException e) {
            if (SqlErrors.isUnavailable(e)) {
                throw e;
            }
            log.debug("The server does not accept {}: it goes without", column, e);
            connection.rollback(savepoint);
            return false;
        }
    }

    /** The columns to select, with three parameters. */
    String columns() {
        return columns;
    }

    /** Binds the three parameters and returns the index of the next one. */
    int bind(PreparedStatement statement, int index, TransactionLimits limits) throws SQLException {
        statement.setString(index, Long.toString(limits.lockWait().toMillis()));
        statement.setString(index + 1, Long.toString(limits.statement().toMillis()));
        statement.setString(index + 2, Long.toString(limits.idle().toMillis()));
        return index + 3;
    }
}
