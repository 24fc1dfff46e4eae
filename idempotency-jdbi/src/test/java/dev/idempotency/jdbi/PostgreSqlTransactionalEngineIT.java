package dev.idempotency.jdbi;

import org.junit.jupiter.api.AfterAll;

class PostgreSqlTransactionalEngineIT extends SqlTransactionalEngineContract {
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
