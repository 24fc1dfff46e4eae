package dev.idempotency.testkit.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FaultInjectingDataSourceTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    private final JdbcDataSource real = new JdbcDataSource();
    private final FaultInjectingDataSource faulty = FaultInjectingDataSource.wrap(real);
    private Connection keeper;

    @BeforeEach
    void createTable() throws SQLException {
        real.setURL("jdbc:h2:mem:" + UUID.randomUUID());
        keeper = real.getConnection();
        try (Statement statement = keeper.createStatement()) {
            statement.execute("CREATE TABLE effect (id INT)");
        }
    }

    @AfterEach
    void dropDatabase() throws SQLException {
        keeper.close();
    }

    @Test
    void noFault_changesNothingAndCounts() throws SQLException {
        insertAndCommit();
        try (Connection connection = faulty.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT count(*) FROM effect")) {
            assertThat(rows.next()).isTrue();
            assertThat(rows.getInt(1)).isEqualTo(1);
            assertThat(statement.getConnection()).isSameAs(connection);
            assertThat(connection.unwrap(org.h2.jdbc.JdbcConnection.class)).isNotNull();
        }
        assertThat(faulty.executions()).isEqualTo(2);
        assertThat(faulty.commits()).isEqualTo(1);
        assertThat(faulty.roundTrips()).isEqualTo(3);
        assertThat(faulty.connections()).isEqualTo(2);
        assertThat(faulty.openConnections()).isZero();
        assertThat(faulty.statements()).containsExactly("INSERT INTO effect VALUES (?)", "SELECT count(*) FROM effect");
    }

    @Test
    void cutBeforeCommit_leavesNothing() throws SQLException {
        faulty.inject(JdbcPoint.BEFORE_COMMIT, Fault.cut());
        assertThatThrownBy(this::insertAndCommit)
                .isInstanceOfSatisfying(
                        SQLException.class, cut -> assertThat(cut.getSQLState()).isEqualTo("08006"));
        assertThat(rows()).isZero();
        assertThat(faulty.commits()).isZero();
        assertThat(faulty.openConnections()).isZero();
        assertThat(faulty.allFaultsStruck()).isTrue();
    }

    @Test
    void cut_endsTheConnectionItself() throws SQLException {
        faulty.inject(JdbcPoint.BEFORE_COMMIT, Fault.cut());
        try (Connection connection = faulty.getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("INSERT INTO effect VALUES (1)");
            assertThatThrownBy(connection::commit).isInstanceOf(SQLException.class);
            assertThat(connection.isClosed()).isTrue();
        }
    }

    @Test
    void cutAfterCommit_isDurableAndLooksFailed() throws SQLException {
        faulty.inject(JdbcPoint.AFTER_COMMIT, Fault.cut());
        assertThatThrownBy(this::insertAndCommit).isInstanceOf(SQLException.class);
        assertThat(rows()).isEqualTo(1);
        assertThat(faulty.commits()).isEqualTo(1);
    }

    @Test
    void textualCommit_meetsTheSameFaults() throws SQLException {
        faulty.inject(JdbcPoint.AFTER_COMMIT, Fault.cut());
        try (Connection connection = faulty.getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("INSERT INTO effect VALUES (1)");
            assertThatThrownBy(() -> statement.execute(" commit ")).isInstanceOf(SQLException.class);
        }
        assertThat(rows()).isEqualTo(1);
    }

    @Test
    void nthMatchingStatement_fails_othersDoNot() throws SQLException {
        faulty.inject(JdbcPoint.BEFORE_EXECUTE, sql -> sql.startsWith("INSERT"), 2, Fault.error("40001"));
        insertAndCommit();
        assertThatThrownBy(this::insertAndCommit)
                .isInstanceOfSatisfying(
                        SQLException.class,
                        error -> assertThat(error.getSQLState()).isEqualTo("40001"));
        insertAndCommit();
        assertThat(rows()).isEqualTo(2);
    }

    @Test
    void batch_isOneExecution() throws SQLException {
        try (Connection connection = faulty.getConnection();
                PreparedStatement statement = connection.prepareStatement("INSERT INTO effect VALUES (?)")) {
            for (int i = 0; i < 3; i++) {
                statement.setInt(1, i);
                statement.addBatch();
            }
            statement.executeBatch();
        }
        assertThat(faulty.executions()).isEqualTo(1);
        assertThat(rows()).isEqualTo(3);
    }

    @Test
    void hold_keepsTheThreadThere() throws Exception {
        Gate gate = new Gate();
        faulty.inject(JdbcPoint.AFTER_COMMIT, Fault.hold(gate));
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try {
            Future<?> running = executor.submit(() -> {
                insertAndCommit();
                return null;
            });
            gate.awaitReached(SOON);
            assertThat(rows()).isEqualTo(1);
            assertThat(running.isDone()).isFalse();
            gate.open();
            running.get(SOON.toMillis(), TimeUnit.MILLISECONDS);
        } finally {
            executor.shutdownNow();
        }
    }

    @Test
    void beforeConnect_fails() {
        faulty.inject(JdbcPoint.BEFORE_CONNECT, Fault.error("08001"));
        assertThatThrownBy(faulty::getConnection).isInstanceOf(SQLException.class);
        assertThat(faulty.connections()).isZero();
    }

    @Test
    void clearFaults_nothingStrikes() throws SQLException {
        faulty.inject(JdbcPoint.BEFORE_COMMIT, Fault.cut());
        faulty.clearFaults();
        insertAndCommit();
        assertThat(rows()).isEqualTo(1);
    }

    private void insertAndCommit() throws SQLException {
        try (Connection connection = faulty.getConnection()) {
            connection.setAutoCommit(false);
            try (PreparedStatement statement = connection.prepareStatement("INSERT INTO effect VALUES (?)")) {
                statement.setInt(1, 1);
                statement.executeUpdate();
            }
            connection.commit();
        }
    }

    private int rows() throws SQLException {
        try (Statement statement = keeper.createStatement();
                ResultSet rows = statement.executeQuery("SELECT count(*) FROM effect")) {
            assertThat(rows.next()).isTrue();
            return rows.getInt(1);
        }
    }
}
