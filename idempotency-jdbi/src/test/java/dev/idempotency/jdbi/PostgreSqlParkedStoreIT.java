package dev.idempotency.jdbi;

class PostgreSqlParkedStoreIT extends SqlParkedStoreContract {
    PostgreSqlParkedStoreIT() {
        super(new PostgreSqlTestDatabase());
    }
}
