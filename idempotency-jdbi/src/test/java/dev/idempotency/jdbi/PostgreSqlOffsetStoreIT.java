package dev.idempotency.jdbi;

class PostgreSqlOffsetStoreIT extends SqlOffsetStoreContract {
    PostgreSqlOffsetStoreIT() {
        super(new PostgreSqlTestDatabase());
    }
}
