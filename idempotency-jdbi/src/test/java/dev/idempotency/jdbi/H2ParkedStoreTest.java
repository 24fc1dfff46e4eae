package dev.idempotency.jdbi;

class H2ParkedStoreTest extends SqlParkedStoreContract {
    H2ParkedStoreTest() {
        super(new H2TestDatabase());
    }
}
