package dev.idempotency.jdbi;

class MariaDbTombstoneIT extends SqlTombstoneContract {
    @Override
    TestDatabase open() {
        return new MariaDbTestDatabase();
    }
}
