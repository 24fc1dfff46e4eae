package dev.idempotency.jdbi;

class H2TombstoneTest extends SqlTombstoneContract {
    @Override
    TestDatabase open() {
        return new H2TestDatabase();
    }
}
