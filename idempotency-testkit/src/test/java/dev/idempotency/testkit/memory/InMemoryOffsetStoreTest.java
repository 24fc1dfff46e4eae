package dev.idempotency.testkit.memory;

import dev.idempotency.testkit.StartedAttemptStoreContract;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionContext;
import dev.idempotency.transaction.TransactionRunner;
import java.time.Duration;
import java.util.function.Consumer;

class InMemoryOffsetStoreTest extends StartedAttemptStoreContract {
    final InMemoryEvents events = new InMemoryEvents();
    /** The store under test; tests of the contract put a broken one here. */
    InMemoryEventStore store = InMemoryEventStore.of(events.database);

    @Override
    protected InMemoryEventStore store() {
        return store;
    }

    @Override
    protected TransactionRunner runner() {
        return events.database;
    }

    @Override
    protected TransactionRunner runnerLosingTheCommit(boolean committed) {
        return events.database.losingTheCommit(committed);
    }

    @Override
    protected void inCallersTransaction(boolean commit, Consumer<TransactionContext> work) {
        events.inCallersTransaction(commit, work);
    }

    @Override
    protected void passTime(Duration duration) {
        events.database.passTime(duration);
    }

    @Override
    protected void addEffect(Transaction transaction, String name) {
        events.addEffect(transaction, name);
    }

    @Override
    protected int countEffects(String name) {
        return events.countEffects(name);
    }

    @Override
    protected void crash(Transaction transaction) {
        transaction.unwrap(InMemoryTransaction.class).kill();
    }
}
