package dev.idempotency.testkit.memory;

import dev.idempotency.spi.LockingOutboxStore;
import dev.idempotency.testkit.LockingOutboxStoreContract;
import dev.idempotency.transaction.TransactionRunner;
import java.time.Duration;

class InMemoryLockingOutboxTest extends LockingOutboxStoreContract {
    private final InMemoryDatabase database = InMemoryDatabase.create();
    private final InMemoryOutboxStore store = InMemoryOutboxStore.of(database);

    @Override
    protected LockingOutboxStore store() {
        return store;
    }

    @Override
    protected TransactionRunner runner() {
        return database;
    }

    @Override
    protected void passTime(Duration duration) {
        database.passTime(duration);
    }
}
