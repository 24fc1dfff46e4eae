package dev.idempotency.jdbi;

import dev.idempotency.spi.LeasedOutboxStore;
import dev.idempotency.testkit.LeasedOutboxStoreContract;
import dev.idempotency.transaction.TransactionRunner;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;

/** The contract on a {@link TestDatabase}. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class SqlLeasedOutboxContract extends LeasedOutboxStoreContract {
    private LeasedOutboxStore store;
    private TransactionRunner runner;

    abstract TestDatabase database();

    @BeforeEach
    void connect() {
        OutboxTables.empty(database());
        store = JdbiOutboxStore.of(database().dataSource());
        runner = JdbiTransactionRunner.of(database().dataSource());
    }

    @Override
    protected LeasedOutboxStore store() {
        return store;
    }

    @Override
    protected TransactionRunner runner() {
        return runner;
    }

    @Override
    protected void passTime(Duration duration) {
        OutboxTables.passTime(database(), duration);
    }
}
