package dev.idempotency.jdbi;

import dev.idempotency.StoreConflictException;
import dev.idempotency.StoreException;
import dev.idempotency.transaction.JoiningDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the tables of this module; applications without a migration tool call it at their start.
 *
 * <p>It runs the same files that lie, for Flyway, Liquibase or a database's own client, in the folders {@code
 * dev/idempotency/jdbi/schema/<dialect>} of the jar. Every statement leaves alone what is already there, and on PostgreSQL
 * nothing is locked when nothing is missing, so that an instance can start while others write. Safe for use
 * by many threads and by many instances that start at once.
 */
public final class SchemaInstaller {
    private static final Logger log = LoggerFactory.getLogger(SchemaInstaller.class);

    private final DataSource dataSource;
    private final TableNames names;

    private SchemaInstaller(DataSource dataSource, TableNames names) {
        this.dataSource = dataSource;
        this.names = names;
    }

    /**
     * Returns the installer of a database.
     *
     * @param dataSource the database, as a user who may create tables
     * @return the installer
     */
    public static SchemaInstaller of(DataSource dataSource) {
        return of(dataSource, TableNames.ofDefaults());
    }

    static SchemaInstaller of(DataSource dataSource, TableNames names) {
        DataSource pool = dataSource instanceof JoiningDataSource joining ? joining.delegate() : dataSource;
        return new SchemaInstaller(Objects.requireNonNull(pool, "dataSource"), names);
    }

    /**
     * Creates what is missing, in one transaction where the database has transactions for that.
     *
     * @throws dev.idempotency.StoreUnavailableException if the database does not answer
     * @throws StoreException if it refuses a statement, for instance for want of a right; on PostgreSQL nothing was
     *     changed
     */
    public void install() {
        SqlDialect dialect = dialect();
        int rounds = SchemaSql.of(dialect).installerRounds();
        for (int round = 1; round < rounds; round++) {
            try {
                installOnce(dialect);
                return;
            } catch (StoreException | StoreConflictException e) {
                log.debug("The installation met something, perhaps another one; looking again", e);
            }
        }
        installOnce(dialect);
    }

    private void installOnce(SqlDialect dialect) {
        JdbiTransactionRunner.of(dataSource).run(SchemaSql.of(dialect).installerLimits(), transaction -> {
            Connection connection = transaction.unwrap(Connection.class);
            InstalledParts installed = new InstalledParts(connection, SchemaSql.of(dialect));
            try (Statement statement = connection.createStatement()) {
                statement.execute(SchemaSql.of(dialect).lockInstaller());
                for (String script : scripts(dialect)) {
                    for (String ddl : SchemaFiles.statements(script)) {
                        if (!installed.contain(ddl)) {
                            statement.execute(ddl);
                        }
                    }
                }
            } catch (SQLException e) {
                throw SqlErrors.translate("The installation of the tables", e);
            }
            return true;
        });
    }

    /**
     * Returns the statements that {@link #install()} would run, for people who want to run them themselves.
     *
     * @return a text that the database's own client can run
     * @throws dev.idempotency.StoreUnavailableException if the database does not answer
     */
    public String script() {
        return String.join("\n", scripts(dialect()));
    }

    private SqlDialect dialect() {
        try (Connection connection = dataSource.getConnection()) {
            return SqlDialect.detect(connection);
        } catch (SQLException e) {
            throw SqlErrors.translate("The look for the database's dialect", e);
        }
    }

    private List<String> scripts(SqlDialect dialect) {
        List<String> scripts = new ArrayList<>();
        for (SchemaSubject subject : SchemaSubject.ALL) {
            subject.files().forEach(file -> scripts.add(SchemaFiles.read(dialect, file, names)));
        }
        return scripts;
    }
}
