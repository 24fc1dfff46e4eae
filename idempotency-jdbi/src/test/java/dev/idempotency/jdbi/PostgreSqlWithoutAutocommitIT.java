package dev.idempotency.jdbi;

import org.junit.jupiter.api.AfterAll;

class PostgreSqlWithoutAutocommitIT extends SqlTransactionalStoreContract {
    private final TestDatabase database = new PostgreSqlTestDatabase(config -> config.setAutoCommit(false));

    @Override
    TestDatabase database() {
        return database;
    }

    @AfterAll
    void close() {
        database.close();
    }
}
