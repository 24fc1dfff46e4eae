package dev.idempotency.jdbi;

import org.junit.jupiter.api.AfterAll;

class H2ManagedOutboxTest extends ManagedOutboxScenarios {
    private final TestDatabase database = new H2TestDatabase();

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
