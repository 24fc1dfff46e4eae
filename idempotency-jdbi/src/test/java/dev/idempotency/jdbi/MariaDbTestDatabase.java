package dev.idempotency.jdbi;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.testkit.service.EmbeddedMariaDb;
import dev.idempotency.testkit.service.MariaDbDatabase;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.awaitility.Awaitility;

/** A new database of the shared MariaDB, behind a pool. */
final class MariaDbTestDatabase extends TestDatabase {
    private final MariaDbDatabase database;
    private final HikariDataSource pool;

    MariaDbTestDatabase() {
        this(config -> {});
    }

    MariaDbTestDatabase(Consumer<HikariConfig> settings) {
        this(settings, Map.of());
    }

    /** What nobody should set and somebody will: each of them has broken somebody's code. */
    static MariaDbTestDatabase withOddSettings(String isolation) {
        return new MariaDbTestDatabase(
                config -> {
                    config.setAutoCommit(false);
                    config.setTransactionIsolation(isolation);
                },
                Map.of(
                        "useAffectedRows", "true",
                        "connectionTimeZone", "Pacific/Chatham",
                        "sessionVariables",
                                "time_zone='-11:00',innodb_snapshot_isolation=1,"
                                        + "sql_mode='STRICT_TRANS_TABLES,ONLY_FULL_GROUP_BY'"));
    }

    private MariaDbTestDatabase(Consumer<HikariConfig> settings, Map<String, String> properties) {
        database = EmbeddedMariaDb.shared().createDatabase();
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.dataSource(properties));
        config.setMaximumPoolSize(12);
        config.setPoolName(database.name());
        settings.accept(config);
        pool = new HikariDataSource(config);
        prepare();
    }

    MariaDbDatabase database() {
        return database;
    }

    @Override
    DataSource dataSource() {
        return pool;
    }

    @Override
    String earlier(String column) {
        return column + " - INTERVAL ? MICROSECOND";
    }

    @Override
    String sessionId() {
        return "SELECT CONNECTION_ID()";
    }

    @Override
    String killSession(long id) {
        return "KILL " + id;
    }

    /** The server rolls back after it has answered. */
    @Override
    void awaitEnd(long session) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .until(() -> count("SELECT COUNT(*) FROM information_schema.processlist WHERE id = " + session) == 0);
    }

    @Override
    public void close() {
        pool.close();
        database.close();
    }
}
