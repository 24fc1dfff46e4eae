package dev.idempotency.testkit.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import org.junit.jupiter.api.Test;

class EmbeddedPostgreSqlIT {
    @Test
    void shared_commitsSynchronously() throws SQLException {
        try (PostgreSqlDatabase database = EmbeddedPostgreSql.shared().createDatabase()) {
            assertThat(show(database, "synchronous_commit")).isEqualTo("on");
        }
    }

    @Test
    void shared_isOneServerAndStaysUpWhenClosed() throws SQLException {
        EmbeddedPostgreSql.shared().close();

        try (PostgreSqlDatabase database = EmbeddedPostgreSql.shared().createDatabase()) {
            assertThat(show(database, "port"))
                    .isEqualTo(String.valueOf(EmbeddedPostgreSql.shared().port()));
        }
    }

    @Test
    void createDatabase_twice_givesTwo() {
        try (PostgreSqlDatabase one = EmbeddedPostgreSql.shared().createDatabase();
                PostgreSqlDatabase other = EmbeddedPostgreSql.shared().createDatabase()) {
            assertThat(one.name()).isNotEqualTo(other.name());
        }
    }

    @Test
    void start_withSettings_hasThem() throws SQLException {
        try (EmbeddedPostgreSql server = EmbeddedPostgreSql.start(Map.of("lock_timeout", "1234ms"));
                PostgreSqlDatabase database = server.createDatabase()) {
            assertThat(show(database, "lock_timeout")).isEqualTo("1234ms");
        }
    }

    private static String show(PostgreSqlDatabase database, String setting) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SHOW " + setting)) {
            rows.next();
            return rows.getString(1);
        }
    }
}
