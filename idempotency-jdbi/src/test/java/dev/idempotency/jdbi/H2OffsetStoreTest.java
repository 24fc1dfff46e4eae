package dev.idempotency.jdbi;

class H2OffsetStoreTest extends SqlOffsetStoreContract {
    H2OffsetStoreTest() {
        super(new H2TestDatabase());
    }
}
