package dev.idempotency.jdbi;

class H2RecordFormatTest extends SqlRecordFormatContract {
    @Override
    TestDatabase open() {
        return new H2TestDatabase();
    }

    @Override
    String keyColumn() {
        return "UTF8TOSTRING(idempotency_key)";
    }
}
