package dev.idempotency.jdbi;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.testkit.TransactionRunnerContract;
import dev.idempotency.transaction.TransactionRunner;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;

class JdbiTransactionRunnerH2Test extends TransactionRunnerContract {
    private final H2TestDatabase database = new H2TestDatabase();
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
    void close() {
        pools.forEach(HikariDataSource::close);
        database.close();
    }
}
