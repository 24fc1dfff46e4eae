package dev.idempotency.jdbi;

class MariaDbOddOffsetStoreIT extends SqlOffsetStoreContract {
    MariaDbOddOffsetStoreIT() {
        super(MariaDbTestDatabase.withOddSettings("TRANSACTION_REPEATABLE_READ"));
    }
}
