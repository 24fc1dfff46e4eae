package dev.idempotency.jdbi;

import dev.idempotency.spi.LockingOutboxStore;
import dev.idempotency.testkit.LockingOutboxStoreContract;
import dev.idempotency.transaction.TransactionRunner;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;

/** The contract on a {@link TestDatabase}. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class SqlLockingOutboxContract extends LockingOutboxStoreContract {
    private LockingOutboxStore store;
    private TransactionRunner runner;

    abstract TestDatabase database();

    @BeforeEach
    void connect() {
        OutboxTables.empty(database());
        store = JdbiOutboxStore.of(database().dataSource());
        runner = JdbiTransactionRunner.of(database().dataSource());
    }

    @Override
    protected LockingOutboxStore store() {
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
