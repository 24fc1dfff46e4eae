package dev.idempotency.servlet;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.testkit.fault.FaultInjectingDataSource;
import dev.idempotency.testkit.service.EmbeddedPostgreSql;
import dev.idempotency.testkit.service.PostgreSqlDatabase;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;

/** A database of its own under a pool of four connections, with faults to be injected beneath the pool. */
final class TestDatabase implements AutoCloseable {
    private static final AtomicInteger NAMES = new AtomicInteger();

    private final FaultInjectingDataSource faults;
    private final HikariDataSource pool;
    private final AutoCloseable server;
    private final boolean postgreSql;

    private TestDatabase(DataSource driver, AutoCloseable server, boolean postgreSql) {
        this.postgreSql = postgreSql;
        faults = FaultInjectingDataSource.wrap(driver);
        HikariConfig config = new HikariConfig();
        config.setDataSource(faults);
        config.setMaximumPoolSize(4);
        config.setConnectionTimeout(30_000);
        pool = new HikariDataSource(config);
        this.server = server;
    }

    static TestDatabase h2() {
        JdbcDataSource driver = new JdbcDataSource();
        driver.setURL("jdbc:h2:mem:servlet" + NAMES.incrementAndGet() + ";DB_CLOSE_DELAY=-1");
        return new TestDatabase(driver, () -> {}, false);
    }

    static TestDatabase postgreSql() {
        PostgreSqlDatabase database = EmbeddedPostgreSql.shared().createDatabase();
        return new TestDatabase(database.dataSource(), database, true);
    }

    boolean isPostgreSql() {
        return postgreSql;
    }

    DataSource pool() {
        return pool;
    }

    /** The connections that are in use now. */
    int active() {
        return pool.getHikariPoolMXBean().getActiveConnections();
    }

    /** The threads that wait for a connection now. */
    int awaiting() {
        return pool.getHikariPoolMXBean().getThreadsAwaitingConnection();
    }

    FaultInjectingDataSource faults() {
        return faults;
    }

    @Override
    public void close() throws Exception {
        pool.close();
        server.close();
    }
}
