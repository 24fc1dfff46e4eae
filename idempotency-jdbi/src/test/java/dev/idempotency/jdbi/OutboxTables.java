package dev.idempotency.jdbi;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/** What tests do to the outbox's tables behind the store's back. */
final class OutboxTables {
    private OutboxTables() {}

    static void empty(TestDatabase database) {
        database.execute("DELETE FROM outbox_event");
        database.execute("DELETE FROM outbox_relay");
        database.execute("UPDATE outbox_lease SET owner = NULL");
    }

    static void passTime(TestDatabase database, Duration duration) {
        makeOlder(
                database,
                "outbox_event",
                duration,
                List.of("created_at", "next_attempt_at", "locked_at", "locked_until", "published_at", "done_at"));
        makeOlder(database, "outbox_lease", duration, List.of("expires_at"));
        makeOlder(database, "outbox_relay", duration, List.of("expires_at"));
    }

    private static void makeOlder(TestDatabase database, String table, Duration duration, List<String> columns) {
        String changes = columns.stream()
                .map(column -> column + " = " + database.earlier(column))
                .collect(Collectors.joining(", "));
        try (Connection connection = database.dataSource().getConnection();
                PreparedStatement statement = connection.prepareStatement("UPDATE " + table + " SET " + changes)) {
            for (int i = 1; i <= columns.size(); i++) {
                statement.setLong(i, duration.toNanos() / 1_000);
            }
            statement.executeUpdate();
            if (!connection.getAutoCommit()) {
                connection.commit();
            }
        } catch (SQLException e) {
            throw new IllegalStateException("Time could not be made to pass", e);
        }
    }
}
