package dev.idempotency.jdbi;

class MariaDbRecordFormatIT extends SqlRecordFormatContract {
    @Override
    TestDatabase open() {
        return new MariaDbTestDatabase();
    }

    @Override
    String keyColumn() {
        return "CONVERT(idempotency_key USING utf8mb4)";
    }
}
