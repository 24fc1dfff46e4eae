package dev.idempotency.jdbi;

class PostgreSqlTombstoneIT extends SqlTombstoneContract {
    @Override
    TestDatabase open() {
        return new PostgreSqlTestDatabase();
    }
}
