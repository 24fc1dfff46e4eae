package dev.idempotency.jdbi;

import dev.idempotency.testkit.StartedAttemptStoreContract;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionContext;
import dev.idempotency.transaction.TransactionRunner;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;

/** The contract on a {@link TestDatabase}. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class SqlOffsetStoreContract extends StartedAttemptStoreContract {
    private final SqlEvents events;
    private final JdbiEventStore store;
    private final TransactionRunner runner;

    SqlOffsetStoreContract(TestDatabase database) {
        this.events = new SqlEvents(database);
        this.store = events.store();
        this.runner = JdbiTransactionRunner.of(database.dataSource());
    }

    @BeforeEach
    void empty() {
        events.empty();
    }

    @AfterAll
    void close() {
        events.database().close();
    }

    @Override
    protected JdbiEventStore store() {
        return store;
    }

    @Override
    protected TransactionRunner runner() {
        return runner;
    }

    @Override
    protected TransactionRunner runnerLosingTheCommit(boolean committed) {
        return JdbiTransactionRunner.of(events.database().losingTheCommit(committed));
    }

    @Override
    protected void inCallersTransaction(boolean commit, Consumer<TransactionContext> work) {
        events.inCallersTransaction(commit, work);
    }

    @Override
    protected void passTime(Duration duration) {
        events.passTime(duration);
    }

    @Override
    protected void addEffect(Transaction transaction, String name) {
        events.database().addEffect(transaction, name);
    }

    @Override
    protected int countEffects(String name) {
        return events.database().countEffects(name);
    }

    @Override
    protected void crash(Transaction transaction) {
        events.database().crash(transaction);
    }
}
