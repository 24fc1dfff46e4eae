package dev.idempotency.jdbi;

import org.junit.jupiter.api.AfterAll;

class PostgreSqlLeasedEngineIT extends SqlLeasedEngineContract {
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
