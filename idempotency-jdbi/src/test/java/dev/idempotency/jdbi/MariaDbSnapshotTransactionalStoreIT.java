package dev.idempotency.jdbi;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The long build only: the same settings as in other contracts of the usual one. */
@EnabledIfSystemProperty(named = "idempotency.profile", matches = "full")
class MariaDbSnapshotTransactionalStoreIT extends SqlTransactionalStoreContract {
    private final TestDatabase database = MariaDbTestDatabase.withOddSettings("TRANSACTION_REPEATABLE_READ");

    @Override
    TestDatabase database() {
        return database;
    }

    @AfterAll
    void close() {
        database.close();
    }
}
