package dev.idempotency.jdbi;

import org.junit.jupiter.api.AfterAll;

class MariaDbManagedOutboxIT extends ManagedOutboxScenarios {
    private final TestDatabase database = new MariaDbTestDatabase();

    @Override
    TestDatabase database() {
        return database;
    }

    @Override
    boolean drawsNumbersAnew() {
        return false;
    }

    @AfterAll
    void close() {
        database.close();
    }
}
