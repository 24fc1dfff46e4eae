package dev.idempotency.jdbi;

class MariaDbOffsetStoreIT extends SqlOffsetStoreContract {
    MariaDbOffsetStoreIT() {
        super(new MariaDbTestDatabase());
    }
}
