package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.SchemaException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** The installer and the check at start, on a database without tables. */
abstract class SchemaInstallerContract {
    private final DataSource database = database();

    abstract DataSource database();

    /** A schema that does not exist yet. */
    String schema() {
        return "app";
    }

    void dropPrimaryKey() throws SQLException {
        execute("ALTER TABLE idempotency_record DROP CONSTRAINT idempotency_record_pkey");
    }

    @Test
    void install_twice_isAsOnce() {
        SchemaInstaller.of(database).install();
        SchemaInstaller.of(database).install();

        assertThatCode(() -> connectAll(TableNames.ofDefaults())).doesNotThrowAnyException();
    }

    @Test
    void install_withOtherNames_isFoundUnderThemOnly() throws SQLException {
        execute("CREATE SCHEMA " + schema());
        TableNames names = new TableNames(schema(), "my_");
        SchemaInstaller.of(database, names).install();

        assertThatCode(() -> connectAll(names)).doesNotThrowAnyException();
        assertThatThrownBy(() -> connect(TableNames.ofDefaults())).isInstanceOf(SchemaException.class);
    }

    @Test
    void connect_noTable_namesTheStatementsThatCureIt() throws SQLException {
        String message = schemaFailure();

        assertThat(message).contains("no table idempotency_record");
        cure(message);
        assertThatCode(() -> connect(TableNames.ofDefaults())).doesNotThrowAnyException();
    }

    @Test
    void connect_noColumn_namesTheStatementThatCuresIt() throws SQLException {
        SchemaInstaller.of(database).install();
        execute("ALTER TABLE idempotency_record DROP COLUMN fencing_token");

        String message = schemaFailure();

        assertThat(message).contains("idempotency_record has no column fencing_token");
        cure(message);
        assertThatCode(() -> connect(TableNames.ofDefaults())).doesNotThrowAnyException();
    }

    @Test
    void connect_columnOfALaterFileMissing_namesTheStatementThatAddsIt() throws SQLException {
        SchemaInstaller.of(database).install();
        execute("ALTER TABLE idempotency_record DROP COLUMN claim_id");

        String message = schemaFailure();

        assertThat(message).contains("idempotency_record has no column claim_id");
        cure(message);
        assertThatCode(() -> connect(TableNames.ofDefaults())).doesNotThrowAnyException();
    }

    @Test
    void connect_noUniqueKey_namesTheStatementThatCuresIt() throws SQLException {
        SchemaInstaller.of(database).install();
        dropPrimaryKey();
        execute("CREATE UNIQUE INDEX too_narrow ON idempotency_record (idempotency_key)");
        execute("CREATE INDEX not_unique ON idempotency_record (idempotency_key, scope_digest)");

        String message = schemaFailure();

        assertThat(message)
                .contains("idempotency_record has no valid unique index over exactly (idempotency_key, scope_digest)");
        cure(message);
        assertThatCode(() -> connect(TableNames.ofDefaults())).doesNotThrowAnyException();
    }

    @Test
    void install_manyInstancesAtOnce_isAsOnce() {
        List<CompletableFuture<Void>> instances = Stream.generate(() -> CompletableFuture.runAsync(
                        () -> SchemaInstaller.of(database).install()))
                .limit(6)
                .toList();
        instances.forEach(instance -> instance.orTimeout(60, TimeUnit.SECONDS).join());

        assertThatCode(() -> connectAll(TableNames.ofDefaults())).doesNotThrowAnyException();
    }

    @Test
    void script_runStatementByStatement_isAsTheInstaller() throws SQLException {
        for (String statement :
                SchemaFiles.statements(SchemaInstaller.of(database).script())) {
            execute(statement);
        }

        assertThatCode(() -> connectAll(TableNames.ofDefaults())).doesNotThrowAnyException();
    }

    private void connectAll(TableNames names) {
        SchemaSubject.ALL.forEach(subject -> StoreDatabase.connect(database, names, subject));
    }

    private void connect(TableNames names) {
        StoreDatabase.connect(database, names, SchemaSubject.OPERATIONS);
    }

    final String schemaFailure() {
        try {
            connect(TableNames.ofDefaults());
        } catch (SchemaException e) {
            return String.valueOf(e.getMessage());
        }
        throw new AssertionError("The schema passed the check");
    }

    private void cure(String message) throws SQLException {
        for (String statement : SchemaFiles.statements(message.substring(message.indexOf("execute:\n") + 9))) {
            execute(statement);
        }
    }

    final void execute(String sql) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
