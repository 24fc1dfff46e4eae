package dev.idempotency.outbox;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.jdbi.JdbiOutboxStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.jdbi.SchemaInstaller;
import dev.idempotency.testkit.service.EmbeddedPostgreSql;
import dev.idempotency.testkit.service.PostgreSqlDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;

/** A new database with an outbox. */
final class OutboxDatabase implements AutoCloseable {
    private final HikariDataSource pool;
    private final AutoCloseable below;
    private final String killSessions;

    private OutboxDatabase(DataSource dataSource, AutoCloseable below, String killSessions) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(dataSource);
        config.setMaximumPoolSize(16);
        this.pool = new HikariDataSource(config);
        this.below = below;
        this.killSessions = killSessions;
        SchemaInstaller.of(pool).install();
    }

    static OutboxDatabase h2() {
        JdbcDataSource dataSource = new JdbcDataSource();
        dataSource.setUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        return new OutboxDatabase(
                dataSource,
                () -> {
                    try (Connection connection = dataSource.getConnection();
                            Statement statement = connection.createStatement()) {
                        statement.execute("SHUTDOWN");
                    }
                },
                "SELECT COUNT(ABORT_SESSION(session_id)) FROM information_schema.sessions"
                        + " WHERE session_id <> SESSION_ID()");
    }

    static OutboxDatabase postgreSql() {
        PostgreSqlDatabase database = EmbeddedPostgreSql.shared().createDatabase();
        return new OutboxDatabase(
                database.dataSource(),
                database,
                "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity"
                        + " WHERE datname = current_database() AND pid <> pg_backend_pid()");
    }

    DataSource dataSource() {
        return pool;
    }

    JdbiOutboxStore store() {
        return JdbiOutboxStore.of(pool);
    }

    JdbiTransactionRunner runner() {
        return JdbiTransactionRunner.of(pool);
    }

    void execute(String sql) {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException("Refused: " + sql, e);
        }
    }

    /** Ends every session but its own, as the server does when their clients are gone. */
    void killSessions() {
        number(killSessions);
    }

    /** Returns how many rows of the outbox fulfil the condition. */
    int count(String condition) {
        return number("SELECT COUNT(*) FROM outbox_event WHERE " + condition);
    }

    int number(String query) {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            rows.next();
            return rows.getInt(1);
        } catch (SQLException e) {
            throw new IllegalStateException("Refused: " + query, e);
        }
    }

    @Override
    public void close() throws Exception {
        pool.close();
        below.close();
    }
}
