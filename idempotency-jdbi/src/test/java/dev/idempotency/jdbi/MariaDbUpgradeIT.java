package dev.idempotency.jdbi;

import dev.idempotency.testkit.service.EmbeddedMariaDb;
import dev.idempotency.testkit.service.MariaDbDatabase;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;

class MariaDbUpgradeIT extends UpgradeContract {
    @SuppressWarnings("NullAway.Init") // set by database(), which the contract calls first
    private MariaDbDatabase created;

    @Override
    DataSource database() {
        created = EmbeddedMariaDb.shared().createDatabase();
        return created.dataSource();
    }

    @Override
    String name(String name) {
        return "'" + name + "'";
    }

    @Override
    String uuid(String uuid) {
        return "X'" + uuid.replace("-", "") + "'";
    }

    @Override
    String inAnHour() {
        return "UTC_TIMESTAMP(6) + INTERVAL 1 HOUR";
    }

    @AfterEach
    void close() {
        created.close();
    }
}
