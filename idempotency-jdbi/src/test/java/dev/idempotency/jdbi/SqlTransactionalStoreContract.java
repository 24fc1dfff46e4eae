package dev.idempotency.jdbi;

import dev.idempotency.spi.TransactionalIdempotencyStore;
import dev.idempotency.testkit.TransactionalIdempotencyStoreContract;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionRunner;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;

/** The contract on a {@link TestDatabase}. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class SqlTransactionalStoreContract extends TransactionalIdempotencyStoreContract {
    private TransactionalIdempotencyStore store;
    private TransactionRunner runner;

    abstract TestDatabase database();

    @BeforeEach
    void connect() {
        database().execute("DELETE FROM idempotency_record");
        database().execute("DELETE FROM effect");
        store = JdbiIdempotencyStore.of(database().dataSource());
        runner = JdbiTransactionRunner.of(database().dataSource());
    }

    @Override
    protected TransactionalIdempotencyStore store() {
        return store;
    }

    @Override
    protected TransactionRunner runner() {
        return runner;
    }

    @Override
    protected TransactionRunner runnerLosingTheCommit(boolean committed) {
        return JdbiTransactionRunner.of(database().losingTheCommit(committed));
    }

    @Override
    protected void passTime(Duration duration) {
        database().passTime(duration);
    }

    @Override
    protected void addEffect(Transaction transaction, String name) {
        database().addEffect(transaction, name);
    }

    @Override
    protected int countEffects(String name) {
        return database().countEffects(name);
    }

    @Override
    protected void crash(Transaction transaction) {
        database().crash(transaction);
    }
}
