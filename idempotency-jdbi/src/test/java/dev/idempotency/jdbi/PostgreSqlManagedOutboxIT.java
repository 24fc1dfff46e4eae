package dev.idempotency.jdbi;

import org.junit.jupiter.api.AfterAll;

class PostgreSqlManagedOutboxIT extends ManagedOutboxScenarios {
    private final TestDatabase database = new PostgreSqlTestDatabase();

    @Override
    TestDatabase database() {
        return database;
    }

    @Override
    boolean drawsNumbersAnew() {
        return true;
    }

    @AfterAll
    void close() {
        database.close();
    }
}
