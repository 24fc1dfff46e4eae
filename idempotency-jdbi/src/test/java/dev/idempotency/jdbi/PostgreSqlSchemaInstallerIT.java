package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.SchemaException;
import dev.idempotency.StoreException;
import dev.idempotency.testkit.service.EmbeddedPostgreSql;
import dev.idempotency.testkit.service.PostgreSqlDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PostgreSqlSchemaInstallerIT extends SchemaInstallerContract {
    @SuppressWarnings("NullAway.Init") // set by database(), which the contract calls first
    private PostgreSqlDatabase created;

    @Override
    DataSource database() {
        created = EmbeddedPostgreSql.shared().createDatabase();
        return created.dataSource();
    }

    @AfterEach
    void close() {
        created.close();
    }

    /** Each of them would let two rows of one key stand side by side, or make ON CONFLICT fail at run time. */
    @Test
    void connect_uniqueIndexThatDoesNotHoldForEveryRowAtOnce_isRefused() throws SQLException {
        for (String index : new String[] {
            "CREATE UNIQUE INDEX other ON idempotency_record (idempotency_key, scope_digest) WHERE status = 2",
            "CREATE UNIQUE INDEX other ON idempotency_record (lower(idempotency_key), scope_digest)",
            "CREATE UNIQUE INDEX other ON idempotency_record (idempotency_key, scope_digest, status)",
            "ALTER TABLE idempotency_record ADD CONSTRAINT other UNIQUE (idempotency_key, scope_digest) DEFERRABLE"
        }) {
            SchemaInstaller.of(created.dataSource()).install();
            execute("ALTER TABLE idempotency_record DROP CONSTRAINT idempotency_record_pkey");
            execute(index);

            assertThat(schemaFailure()).as(index).contains("no valid unique index");

            execute("DROP TABLE idempotency_record");
        }
    }

    /** An instance that starts must not wait for the longest transaction, nor let all writers wait behind it. */
    @Test
    void install_nothingMissing_waitsForNobody() throws Exception {
        for (TableNames names : List.of(TableNames.ofDefaults(), new TableNames("elsewhere", "shop_"))) {
            execute("CREATE SCHEMA IF NOT EXISTS elsewhere");
            SchemaInstaller installer = SchemaInstaller.of(created.dataSource(), names);
            installer.install();
            try (Connection writer = created.dataSource().getConnection();
                    Statement statement = writer.createStatement()) {
                writer.setAutoCommit(false);
                for (String table : SchemaSubject.tableNames()) {
                    statement.execute("LOCK TABLE " + names.table(table) + " IN ROW EXCLUSIVE MODE");
                }
                CompletableFuture<Void> start = CompletableFuture.runAsync(installer::install);

                assertThat(start).succeedsWithin(Duration.ofSeconds(30));
                writer.rollback();
            }
        }
    }

    @Test
    void install_indexAndColumnMissing_addsThem() throws SQLException {
        SchemaInstaller.of(created.dataSource()).install();
        execute("DROP INDEX outbox_event_dead");
        execute("ALTER TABLE idempotency_record DROP COLUMN claim_id");

        SchemaInstaller.of(created.dataSource()).install();

        execute("DROP INDEX outbox_event_dead");
        execute("ALTER TABLE idempotency_record DROP COLUMN claim_id");
    }

    @Test
    void connect_tableInASchemaOffTheSearchPath_isNotFound() throws SQLException {
        execute("CREATE SCHEMA elsewhere");
        SchemaInstaller.of(created.dataSource(), new TableNames("elsewhere", ""))
                .install();

        assertThatThrownBy(() ->
                        StoreDatabase.connect(created.dataSource(), TableNames.ofDefaults(), SchemaSubject.OPERATIONS))
                .isInstanceOf(SchemaException.class);
    }

    @Test
    void connect_noRightToRead_saysThatAndNotThatTheTableIsMissing() throws SQLException {
        SchemaInstaller.of(created.dataSource()).install();
        execute("DROP ROLE IF EXISTS reader");
        execute("CREATE ROLE reader LOGIN");
        DataSource asReader = created.dataSource(Map.of("user", "reader"));

        assertThatThrownBy(() -> StoreDatabase.connect(asReader, TableNames.ofDefaults(), SchemaSubject.OPERATIONS))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("42501");
    }
}
