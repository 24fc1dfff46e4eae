package dev.idempotency.testkit.memory;

import dev.idempotency.spi.TransactionalIdempotencyStore;
import dev.idempotency.testkit.TransactionalIdempotencyStoreContract;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionRunner;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

class InMemoryTransactionalStoreTest extends TransactionalIdempotencyStoreContract {
    final InMemoryDatabase database = InMemoryDatabase.create();
    private final Map<String, Integer> effects = new ConcurrentHashMap<>();
    /** The store under test; tests of the contract put a broken one here. */
    TransactionalIdempotencyStore store = InMemoryIdempotencyStore.of(database);

    @Override
    protected TransactionalIdempotencyStore store() {
        return store;
    }

    @Override
    protected TransactionRunner runner() {
        return database;
    }

    @Override
    protected TransactionRunner runnerLosingTheCommit(boolean committed) {
        return database.losingTheCommit(committed);
    }

    @Override
    protected void passTime(Duration duration) {
        database.passTime(duration);
    }

    @Override
    protected void addEffect(Transaction transaction, String name) {
        transaction.unwrap(InMemoryTransaction.class).write(() -> effects.merge(name, 1, Integer::sum));
    }

    @Override
    protected int countEffects(String name) {
        return effects.getOrDefault(name, 0);
    }

    @Override
    protected void crash(Transaction transaction) {
        transaction.unwrap(InMemoryTransaction.class).kill();
    }
}
