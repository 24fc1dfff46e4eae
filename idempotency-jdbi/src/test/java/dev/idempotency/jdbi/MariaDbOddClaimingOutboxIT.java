package dev.idempotency.jdbi;

import org.junit.jupiter.api.AfterAll;

class MariaDbOddClaimingOutboxIT extends SqlClaimingOutboxContract {
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
