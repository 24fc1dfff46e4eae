package dev.idempotency.jdbi;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.testkit.service.EmbeddedPostgreSql;
import dev.idempotency.testkit.service.PostgreSqlDatabase;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** A new database of the shared PostgreSQL, behind a pool. */
final class PostgreSqlTestDatabase extends TestDatabase {
    private final PostgreSqlDatabase database = EmbeddedPostgreSql.shared().createDatabase();
    private final HikariDataSource pool;

    PostgreSqlTestDatabase() {
        this(config -> {});
    }

    PostgreSqlTestDatabase(Consumer<HikariConfig> settings) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.dataSource());
        config.setMaximumPoolSize(12);
        config.setPoolName(database.name());
        settings.accept(config);
        pool = new HikariDataSource(config);
        prepare();
    }

    PostgreSqlDatabase database() {
        return database;
    }

    @Override
    DataSource dataSource() {
        return pool;
    }

    @Override
    String earlier(String column) {
        return column + " - ? * interval '1 microsecond'";
    }

    @Override
    String sessionId() {
        return "SELECT pg_backend_pid()";
    }

    @Override
    String killSession(long id) {
        return "SELECT pg_terminate_backend(" + id + ", 60000)";
    }

    @Override
    public void close() {
        pool.close();
        database.close();
    }
}
