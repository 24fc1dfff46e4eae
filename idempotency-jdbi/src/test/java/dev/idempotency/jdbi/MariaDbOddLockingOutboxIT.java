package dev.idempotency.jdbi;

import org.junit.jupiter.api.AfterAll;

class MariaDbOddLockingOutboxIT extends SqlLockingOutboxContract {
    private final TestDatabase database = MariaDbTestDatabase.withOddSettings("TRANSACTION_REPEATABLE_READ");

    @Override
    TestDatabase database() {
        return database;
    }

    @AfterAll
    void close() {
        database.close();
    }
}
