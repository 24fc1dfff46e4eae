package dev.idempotency.jdbi;

import org.junit.jupiter.api.AfterAll;

class MariaDbLockingOutboxIT extends SqlLockingOutboxContract {
    private final TestDatabase database = new MariaDbTestDatabase();

    @Override
    TestDatabase database() {
        return database;
    }

    @AfterAll
    void close() {
        database.close();
    }
}
