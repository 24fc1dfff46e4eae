package dev.idempotency.jdbi;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;

/** A new H2 database in memory. */
final class H2TestDatabase extends TestDatabase {
    private final JdbcDataSource dataSource = new JdbcDataSource();

    H2TestDatabase() {
        dataSource.setUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        prepare();
    }

    @Override
    DataSource dataSource() {
        return dataSource;
    }

    @Override
    String earlier(String column) {
        return "DATEADD(MICROSECOND, 0 - CAST(? AS BIGINT), " + column + ")";
    }

    @Override
    String sessionId() {
        return "SELECT SESSION_ID()";
    }

    @Override
    String killSession(long id) {
        return "SELECT ABORT_SESSION(" + id + ")";
    }

    @Override
    public void close() {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SHUTDOWN");
        } catch (SQLException e) {
            throw new IllegalStateException("The database did not shut down", e);
        }
    }
}
