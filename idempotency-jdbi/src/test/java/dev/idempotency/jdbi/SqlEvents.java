package dev.idempotency.jdbi;

import dev.idempotency.transaction.JoinedTransaction;
import dev.idempotency.transaction.TransactionContext;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/** What the event contracts need of a {@link TestDatabase}. */
record SqlEvents(TestDatabase database) {
    JdbiEventStore store() {
        return JdbiEventStore.of(database.dataSource());
    }

    void empty() {
        for (String table : List.of("processed_event", "partition_offset", "parked_event", "effect")) {
            database.execute("DELETE FROM " + table);
        }
    }

    void inCallersTransaction(boolean commit, Consumer<TransactionContext> work) {
        try (Connection connection = database.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            work.accept(JoinedTransaction.of(connection));
            if (commit) {
                connection.commit();
            } else {
                connection.rollback();
            }
            connection.setAutoCommit(true);
        } catch (SQLException e) {
            throw SqlErrors.translate("The caller's transaction", e);
        }
    }

    void passTime(Duration duration) {
        String sql = "UPDATE processed_event SET marked_at = " + database.earlier("marked_at");
        try (Connection connection = database.dataSource().getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setLong(1, duration.toNanos() / 1000);
            statement.executeUpdate();
            if (!connection.getAutoCommit()) {
                connection.commit();
            }
        } catch (SQLException e) {
            throw SqlErrors.translate("The passing of time", e);
        }
    }
}
