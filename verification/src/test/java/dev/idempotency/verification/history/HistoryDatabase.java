package dev.idempotency.verification.history;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.jdbi.SchemaInstaller;
import dev.idempotency.spi.Claim;
import dev.idempotency.testkit.service.EmbeddedPostgreSql;
import dev.idempotency.testkit.service.PostgreSqlDatabase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;

/** A database with the tables, and a way to make the lease of one record end. */
abstract class HistoryDatabase implements AutoCloseable {
    private static final int MOST_TRIES = 1_000;

    abstract DataSource dataSource();

    abstract String twoHoursEarlier(String column);

    abstract void bindKey(PreparedStatement statement, String key) throws SQLException;

    @Override
    public abstract void close();

    /** Makes the lease of the record end, if one runs: as one atomic step, as the passing of time is. */
    final void endLease(String key) {
        String sql = """
                UPDATE idempotency_record
                SET lease_until = %s
                WHERE idempotency_key = ?
                AND status = 1
                """.formatted(twoHoursEarlier("lease_until"));
        execute(sql, key);
    }

    /** Runs a statement with the key as its only parameter, and returns its row count. */
    final int execute(String sql, String key) {
        for (int tries = 1; ; tries++) {
            try (Connection connection = dataSource().getConnection();
                    PreparedStatement statement = connection.prepareStatement(sql)) {
                bindKey(statement, key);
                return statement.executeUpdate();
            } catch (SQLException e) {
                boolean conflict = e.getSQLState() != null
                        && (e.getSQLState().startsWith("40") || e.getSQLState().equals("HYT00"));
                if (!conflict || tries == MOST_TRIES) {
                    throw new IllegalStateException("Refused: " + sql, e);
                }
            }
        }
    }

    /** The claim that stands in the place of another one, whoever made it. */
    final Claim findPresent(Claim claim) {
        String sql = "SELECT fencing_token, claim_id FROM idempotency_record WHERE idempotency_key = ?";
        try (Connection connection = dataSource().getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            bindKey(statement, claim.request().id().key().value());
            try (ResultSet rows = statement.executeQuery()) {
                UUID present = rows.next() ? rows.getObject("claim_id", UUID.class) : null;
                return present == null
                        ? claim
                        : new Claim(claim.request(), present, rows.getLong("fencing_token"), claim.attempt(), "");
            }
        } catch (SQLException e) {
            throw new IllegalStateException("Refused: " + sql, e);
        }
    }

    static HistoryDatabase h2() {
        return new H2();
    }

    static HistoryDatabase postgreSql() {
        return new PostgreSql();
    }

    private static final class H2 extends HistoryDatabase {
        private final JdbcDataSource dataSource = new JdbcDataSource();

        H2() {
            dataSource.setUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
            SchemaInstaller.of(dataSource).install();
        }

        @Override
        DataSource dataSource() {
            return dataSource;
        }

        @Override
        String twoHoursEarlier(String column) {
            return "DATEADD(HOUR, -2, " + column + ")";
        }

        @Override
        void bindKey(PreparedStatement statement, String key) throws SQLException {
            statement.setBytes(1, key.getBytes(StandardCharsets.US_ASCII));
        }

        @Override
        public void close() {
            try (Connection connection = dataSource.getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute("SHUTDOWN");
            } catch (SQLException e) {
                throw new IllegalStateException("H2 did not shut down", e);
            }
        }
    }

    private static final class PostgreSql extends HistoryDatabase {
        private final PostgreSqlDatabase database = EmbeddedPostgreSql.shared().createDatabase();
        private final HikariDataSource pool;

        PostgreSql() {
            HikariConfig config = new HikariConfig();
            config.setDataSource(database.dataSource());
            config.setMaximumPoolSize(6);
            config.setPoolName(database.name());
            pool = new HikariDataSource(config);
            SchemaInstaller.of(pool).install();
        }

        @Override
        DataSource dataSource() {
            return pool;
        }

        @Override
        String twoHoursEarlier(String column) {
            return column + " - interval '2 hours'";
        }

        @Override
        void bindKey(PreparedStatement statement, String key) throws SQLException {
            statement.setString(1, key);
        }

        @Override
        public void close() {
            pool.close();
            database.close();
        }
    }
}
