package dev.idempotency.jdbi;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The long build only: the same settings as in other contracts of the usual one. */
@EnabledIfSystemProperty(named = "idempotency.profile", matches = "full")
class MariaDbOddLeasedOutboxIT extends SqlLeasedOutboxContract {
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
