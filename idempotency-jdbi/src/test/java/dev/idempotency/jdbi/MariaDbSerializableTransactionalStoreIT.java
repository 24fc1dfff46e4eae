package dev.idempotency.jdbi;

import org.junit.jupiter.api.AfterAll;

class MariaDbSerializableTransactionalStoreIT extends SqlTransactionalStoreContract {
    private final TestDatabase database = MariaDbTestDatabase.withOddSettings("TRANSACTION_SERIALIZABLE");

    @Override
    TestDatabase database() {
        return database;
    }

    @AfterAll
    void close() {
        database.close();
    }
}
