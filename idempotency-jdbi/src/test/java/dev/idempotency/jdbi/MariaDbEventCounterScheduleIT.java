package dev.idempotency.jdbi;

import java.sql.Connection;
import java.sql.SQLException;

class MariaDbEventCounterScheduleIT extends DeadlockEventCounterSchedules {
    MariaDbEventCounterScheduleIT() {
        super(new MariaDbTestDatabase());
    }

    /** MariaDB chooses the transaction that has changed fewest rows, so this one changes more. */
    @Override
    void holdAccountTwo(Connection connection) throws SQLException {
        connection.setAutoCommit(false);
        execute(connection, "UPDATE account FORCE INDEX (PRIMARY) SET balance = 2 WHERE id >= 2");
    }

    @Override
    String countBlocked() {
        return "SELECT variable_value FROM information_schema.global_status"
                + " WHERE variable_name = 'INNODB_ROW_LOCK_CURRENT_WAITS'";
    }
}
