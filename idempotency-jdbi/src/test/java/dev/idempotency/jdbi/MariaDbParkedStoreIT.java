package dev.idempotency.jdbi;

class MariaDbParkedStoreIT extends SqlParkedStoreContract {
    MariaDbParkedStoreIT() {
        super(MariaDbTestDatabase.withOddSettings("TRANSACTION_REPEATABLE_READ"));
    }
}
