package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** A schema of any earlier version, with rows in it, becomes that of this one; old and new code can share it meanwhile. */
abstract class UpgradeContract {
    private static final Duration LEASE = Duration.ofMinutes(10);

    /** A row for each table, as the first version that had it wrote it. */
    private static final Map<String, String> ROWS = Map.of(
            "event_consumer", "INSERT INTO event_consumer (name) VALUES (%s)",
            "outbox_event", "INSERT INTO outbox_event (event_id, bucket, topic) VALUES (%s, 1, 'orders')",
            "outbox_relay", "INSERT INTO outbox_relay (owner, expires_at) VALUES ('relay-1', CURRENT_TIMESTAMP)");

    private final DataSource database = database();

    abstract DataSource database();

    /** The bytes of a name as a literal of the type that names of consumers have. */
    abstract String name(String name);

    abstract String uuid(String uuid);

    /** Sixty minutes from now, as the records' columns have it. */
    abstract String inAnHour();

    @Test
    void install_fromEachEarlierVersion_keepsTheRows() throws SQLException {
        List<String> files = files();
        for (int version = 0; version < files.size(); version++) {
            dropAll();
            runFirst(version);
            List<String> tables = fill();

            SchemaInstaller.of(database).install();

            for (String table : tables) {
                assertThat(count(table))
                        .as("%s after version %s", table, version)
                        .isEqualTo(1);
            }
            for (SchemaSubject subject : SchemaSubject.ALL) {
                StoreDatabase.connect(database, TableNames.ofDefaults(), subject);
            }
        }
    }

    /** What the code before claim ids wrote, in the table that has them. */
    @Test
    void claim_leasedByCodeOfTheVersionBefore_isItsOwnUntilItEnds() throws SQLException {
        dropAll();
        SchemaInstaller.of(database).install();
        JdbiIdempotencyStore store = JdbiIdempotencyStore.of(database);
        ClaimRequest running = TestRequests.fresh();
        insertAsBefore(store, running, 1, inAnHour());
        ClaimRequest completed = TestRequests.fresh();
        insertAsBefore(store, completed, 2, "NULL");

        assertThat(store.claim(running, LEASE)).isInstanceOf(ClaimOutcome.InProgress.class);
        assertThat(store.claim(completed, LEASE)).isInstanceOf(ClaimOutcome.Completed.class);

        execute("UPDATE idempotency_record SET status = 2, result_status = 200, lease_until = NULL WHERE status = 1");
        assertThat(store.claim(running, LEASE))
                .as("completed by the old code meanwhile")
                .isInstanceOf(ClaimOutcome.Completed.class);
    }

    /** The old code's statements name neither the new column nor all columns. */
    private void insertAsBefore(JdbiIdempotencyStore store, ClaimRequest request, int status, String leaseUntil)
            throws SQLException {
        Claim claim = ((ClaimOutcome.Acquired) store.claim(request, LEASE)).claim();
        assertThat(store.release(claim)).isTrue();
        try (Connection connection = database.getConnection();
                PreparedStatement update = connection.prepareStatement("UPDATE idempotency_record SET status = "
                        + status + ", result_status = 201, lease_until = " + leaseUntil + ", expires_at = "
                        + inAnHour() + " WHERE fencing_token = ?")) {
            update.setLong(1, claim.token());
            assertThat(update.executeUpdate()).isEqualTo(1);
        }
    }

    private static List<String> files() {
        return SchemaSubject.ALL.stream()
                .flatMap(subject -> subject.files().stream())
                .sorted((one, other) -> Integer.compare(version(one), version(other)))
                .toList();
    }

    private static int version(String file) {
        return Integer.parseInt(file.substring(1, file.indexOf("__")));
    }

    private void runFirst(int count) throws SQLException {
        try (Connection connection = database.getConnection()) {
            SqlDialect dialect = SqlDialect.detect(connection);
            for (String file : files().subList(0, count)) {
                for (String statement :
                        SchemaFiles.statements(SchemaFiles.read(dialect, file, TableNames.ofDefaults()))) {
                    execute(statement);
                }
            }
        }
    }

    private List<String> fill() throws SQLException {
        List<String> filled = new ArrayList<>();
        for (Map.Entry<String, String> row : ROWS.entrySet()) {
            if (exists(row.getKey())) {
                String value = row.getKey().equals("event_consumer")
                        ? name("billing")
                        : uuid("0190a1b2-0000-7000-8000-000000000001");
                execute(row.getValue().formatted(value));
                filled.add(row.getKey());
            }
        }
        return filled;
    }

    private boolean exists(String table) {
        try {
            count(table);
            return true;
        } catch (SQLException e) {
            return false;
        }
    }

    private int count(String table) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM " + table)) {
            rows.next();
            return rows.getInt(1);
        }
    }

    private void dropAll() throws SQLException {
        for (String table : SchemaSubject.tableNames()) {
            execute("DROP TABLE IF EXISTS " + table);
        }
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
