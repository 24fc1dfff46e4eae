package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.SchemaException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;

class SchemaInstallerTest {
    private final DataSource database = memory();

    @Test
    void install_twice_isAsOnce() {
        SchemaInstaller.of(database).install();
        SchemaInstaller.of(database).install();

        assertThatCode(() -> connect(TableNames.ofDefaults())).doesNotThrowAnyException();
    }

    @Test
    void install_withOtherNames_isFoundUnderThemOnly() throws SQLException {
        execute("CREATE SCHEMA app");
        TableNames names = new TableNames("app", "my_");
        SchemaInstaller.of(database, names).install();

        assertThatCode(() -> connect(names)).doesNotThrowAnyException();
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
    void connect_noUniqueKey_namesTheStatementThatCuresIt() throws SQLException {
        SchemaInstaller.of(database).install();
        execute("ALTER TABLE idempotency_record DROP CONSTRAINT idempotency_record_pkey");
        execute("CREATE UNIQUE INDEX too_narrow ON idempotency_record (idempotency_key)");
        execute("CREATE INDEX not_unique ON idempotency_record (idempotency_key, scope_digest)");

        String message = schemaFailure();

        assertThat(message)
                .contains("idempotency_record has no valid unique index over exactly (idempotency_key, scope_digest)");
        cure(message);
        assertThatCode(() -> connect(TableNames.ofDefaults())).doesNotThrowAnyException();
    }

    private void connect(TableNames names) {
        StoreDatabase.connect(database, names, SchemaSubject.OPERATIONS);
    }

    private String schemaFailure() {
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

    private void execute(String sql) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static DataSource memory() {
        JdbcDataSource dataSource = new JdbcDataSource();
        dataSource.setUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        return dataSource;
    }
}
