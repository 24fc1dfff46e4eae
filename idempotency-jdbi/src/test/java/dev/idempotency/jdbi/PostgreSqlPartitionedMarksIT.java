package dev.idempotency.jdbi;

/** The contract with the marks divided by the time of their ids. */
class PostgreSqlPartitionedMarksIT extends SqlParkedStoreContract {
    PostgreSqlPartitionedMarksIT() {
        super(divided());
    }

    private static PostgreSqlTestDatabase divided() {
        PostgreSqlTestDatabase database = new PostgreSqlTestDatabase();
        MarkPartitions.of(database.dataSource()).install();
        return database;
    }
}
