package dev.idempotency.jdbi;

import org.junit.jupiter.api.AfterAll;

class PostgreSqlLockingOutboxIT extends SqlLockingOutboxContract {
    private final TestDatabase database = new PostgreSqlTestDatabase();

    @Override
    TestDatabase database() {
        return database;
    }

    @AfterAll
    void close() {
        database.close();
    }
}
