package dev.idempotency.testkit.memory;

import dev.idempotency.spi.ClaimingOutboxStore;
import dev.idempotency.testkit.ClaimingOutboxStoreContract;
import dev.idempotency.transaction.TransactionRunner;
import java.time.Duration;

class InMemoryClaimingOutboxTest extends ClaimingOutboxStoreContract {
    private final InMemoryDatabase database = InMemoryDatabase.create();
    private final InMemoryOutboxStore store = InMemoryOutboxStore.of(database);

    @Override
    protected ClaimingOutboxStore store() {
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
