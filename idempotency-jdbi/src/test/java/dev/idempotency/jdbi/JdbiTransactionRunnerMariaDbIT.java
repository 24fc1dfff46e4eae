package dev.idempotency.jdbi;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.testkit.TransactionRunnerContract;
import dev.idempotency.testkit.service.EmbeddedMariaDb;
import dev.idempotency.testkit.service.MariaDbDatabase;
import dev.idempotency.transaction.TransactionRunner;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.TestInstance;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class JdbiTransactionRunnerMariaDbIT extends TransactionRunnerContract {
    private final MariaDbDatabase database = EmbeddedMariaDb.shared().createDatabase();
    private final List<HikariDataSource> pools = new ArrayList<>();

    @Override
    protected DataSource database() {
        return database.dataSource();
    }

    @Override
    protected DataSource pool(DataSource connections) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(connections);
        config.setMaximumPoolSize(4);
        config.setMinimumIdle(0);
        HikariDataSource pool = new HikariDataSource(config);
        pools.add(pool);
        return pool;
    }

    @Override
    protected TransactionRunner runner(DataSource dataSource) {
        return JdbiTransactionRunner.of(dataSource);
    }

    @AfterEach
    void closePool() {
        pools.forEach(HikariDataSource::close);
    }

    @AfterAll
    void close() {
        database.close();
    }
}
