package dev.idempotency.jdbi;

import java.sql.Connection;
import java.sql.SQLException;

class H2EventCounterScheduleTest extends DeadlockEventCounterSchedules {
    H2EventCounterScheduleTest() {
        super(new H2TestDatabase());
    }

    /** H2 chooses the youngest transaction of the circle, so it is enough that this one began first. */
    @Override
    void holdAccountTwo(Connection connection) throws SQLException {
        execute(connection, "SET LOCK_TIMEOUT 60000");
        connection.setAutoCommit(false);
        execute(connection, "UPDATE account SET balance = 2 WHERE id = 2");
    }

    @Override
    String countBlocked() {
        return "SELECT COUNT(*) FROM INFORMATION_SCHEMA.SESSIONS WHERE BLOCKER_ID IS NOT NULL";
    }
}
