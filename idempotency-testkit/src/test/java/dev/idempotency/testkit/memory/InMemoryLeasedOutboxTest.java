package dev.idempotency.testkit.memory;

import dev.idempotency.spi.LeasedOutboxStore;
import dev.idempotency.testkit.LeasedOutboxStoreContract;
import dev.idempotency.transaction.TransactionRunner;
import java.time.Duration;

class InMemoryLeasedOutboxTest extends LeasedOutboxStoreContract {
    private final InMemoryDatabase database = InMemoryDatabase.create();
    private final InMemoryOutboxStore store = InMemoryOutboxStore.of(database);

    @Override
    protected LeasedOutboxStore store() {
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
