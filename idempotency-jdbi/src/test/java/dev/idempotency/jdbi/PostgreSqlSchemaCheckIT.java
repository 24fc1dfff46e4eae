package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.SchemaException;
import dev.idempotency.testkit.service.EmbeddedPostgreSql;
import dev.idempotency.testkit.service.PostgreSqlDatabase;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PostgreSqlSchemaCheckIT {
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void of_missingTables_namesAllOfThemWithTheirStatements(boolean autocommit) {
        try (PostgreSqlDatabase database = EmbeddedPostgreSql.shared().createDatabase();
                HikariDataSource pool = pool(database, autocommit)) {
            assertThatExceptionOfType(SchemaException.class)
                    .isThrownBy(() -> JdbiIdempotencyStore.of(pool))
                    .withMessageContaining("CREATE TABLE IF NOT EXISTS idempotency_record");
            assertThatExceptionOfType(SchemaException.class)
                    .isThrownBy(() -> JdbiEventStore.of(pool))
                    .withMessageContainingAll(
                            "CREATE TABLE IF NOT EXISTS processed_event", "CREATE TABLE IF NOT EXISTS parked_event");
            assertThatExceptionOfType(SchemaException.class)
                    .isThrownBy(() -> JdbiOutboxStore.of(pool))
                    .withMessageContainingAll(
                            "CREATE TABLE IF NOT EXISTS outbox_event", "CREATE TABLE IF NOT EXISTS outbox_lease");
        }
    }

    private static HikariDataSource pool(PostgreSqlDatabase database, boolean autocommit) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.dataSource());
        config.setAutoCommit(autocommit);
        config.setMaximumPoolSize(2);
        return new HikariDataSource(config);
    }
}
