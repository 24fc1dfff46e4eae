package dev.idempotency.jdbi;

import java.sql.Connection;
import java.sql.SQLException;

/** PostgreSQL aborts the transaction, answers COMMIT with a rollback, and its driver's commit() returns normally. */
class PostgreSqlEventCounterScheduleIT extends EventCounterSchedules {
    PostgreSqlEventCounterScheduleIT() {
        super(new PostgreSqlTestDatabase());
    }

    @Override
    void effectThenSwallowedFailure(Connection connection, String effect) throws SQLException {
        execute(connection, "INSERT INTO effect (id) VALUES ('" + effect + "')");
        try {
            execute(connection, "SELECT 1 / 0");
        } catch (SQLException e) {
            // What a careless handler does: it knows better.
        }
    }
}
