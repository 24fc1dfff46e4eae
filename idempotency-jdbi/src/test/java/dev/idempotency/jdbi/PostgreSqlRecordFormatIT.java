package dev.idempotency.jdbi;

class PostgreSqlRecordFormatIT extends SqlRecordFormatContract {
    @Override
    TestDatabase open() {
        return new PostgreSqlTestDatabase();
    }

    @Override
    String keyColumn() {
        return "idempotency_key";
    }
}
