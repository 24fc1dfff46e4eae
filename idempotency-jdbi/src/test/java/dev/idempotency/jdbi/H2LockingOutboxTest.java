package dev.idempotency.jdbi;

import org.junit.jupiter.api.AfterAll;

class H2LockingOutboxTest extends SqlLockingOutboxContract {
    private final TestDatabase database = new H2TestDatabase();

    @Override
    TestDatabase database() {
        return database;
    }

    @AfterAll
    void close() {
        database.close();
    }
}
