package dev.idempotency.jdbi;

class MariaDbParkedStoreIT extends SqlParkedStoreContract {
    MariaDbParkedStoreIT() {
        super(new MariaDbTestDatabase());
    }
}
