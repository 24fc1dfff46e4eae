package dev.idempotency.jdbi;

import dev.idempotency.testkit.service.EmbeddedPostgreSql;
import dev.idempotency.testkit.service.PostgreSqlDatabase;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;

class PostgreSqlUpgradeIT extends UpgradeContract {
    @SuppressWarnings("NullAway.Init") // set by database(), which the contract calls first
    private PostgreSqlDatabase created;

    @Override
    DataSource database() {
        created = EmbeddedPostgreSql.shared().createDatabase();
        return created.dataSource();
    }

    @Override
    String name(String name) {
        return "'" + name + "'";
    }

    @Override
    String uuid(String uuid) {
        return "'" + uuid + "'";
    }

    @Override
    String inAnHour() {
        return "now() + interval '1 hour'";
    }

    @AfterEach
    void close() {
        created.close();
    }
}
