package dev.idempotency.jdbi;

import dev.idempotency.testkit.service.EmbeddedMariaDb;
import dev.idempotency.testkit.service.MariaDbDatabase;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;

class MariaDbSchemaInstallerIT extends SchemaInstallerContract {
    @SuppressWarnings("NullAway.Init") // set by database(), which the contract calls first
    private MariaDbDatabase created;

    @Override
    DataSource database() {
        created = EmbeddedMariaDb.shared().createDatabase();
        return created.dataSource();
    }

    /** A schema is a database here, and the server is shared. */
    @Override
    String schema() {
        return created.name() + "_app";
    }

    @Override
    void dropPrimaryKey() throws SQLException {
        execute("ALTER TABLE idempotency_record DROP PRIMARY KEY");
    }

    @AfterEach
    void close() throws SQLException {
        execute("DROP DATABASE IF EXISTS " + schema());
        created.close();
    }
}
