package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.testkit.fault.Fault;
import dev.idempotency.testkit.fault.FaultInjectingDataSource;
import dev.idempotency.testkit.fault.JdbcPoint;
import dev.idempotency.transaction.OutcomeUnknownException;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What becomes of the connection after the transaction, where the pool does nothing about it. */
class JdbiTransactionRunnerSessionTest {
    private static final TransactionLimits LIMITS = TransactionLimits.ofDefaults();

    private final H2TestDatabase database = new H2TestDatabase();

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    void run_poolThatRestoresNothing_getsTheConnectionBackInItsMode() throws SQLException {
        for (boolean mode : new boolean[] {true, false}) {
            try (Connection connection = database.dataSource().getConnection()) {
                connection.setAutoCommit(mode);
                JdbiTransactionRunner runner = JdbiTransactionRunner.of(Lending.of(connection));

                runner.run(LIMITS, transaction -> true);
                assertThat(connection.getAutoCommit()).isEqualTo(mode);
                runner.run(LIMITS, transaction -> {
                    transaction.setRollbackOnly();
                    return true;
                });
                assertThat(connection.getAutoCommit()).isEqualTo(mode);
                assertThatThrownBy(() -> runner.run(LIMITS, transaction -> {
                            throw new IllegalStateException("from the work");
                        }))
                        .hasMessage("from the work");
                assertThat(connection.getAutoCommit()).isEqualTo(mode);
            }
        }
    }

    @Test
    void run_commitUnknown_theConnectionLeavesTheHikariPool() {
        FaultInjectingDataSource faults = FaultInjectingDataSource.wrap(database.dataSource());
        HikariConfig config = new HikariConfig();
        config.setDataSource(faults);
        config.setMaximumPoolSize(1);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            JdbiTransactionRunner runner = JdbiTransactionRunner.of(pool);
            long before = faults.connections();
            // A state after which HikariCP itself would keep the connection.
            faults.inject(JdbcPoint.BEFORE_COMMIT, Fault.error("XX000"));
            assertThatThrownBy(() -> runner.run(LIMITS, transaction -> true))
                    .isInstanceOf(OutcomeUnknownException.class);

            runner.run(LIMITS, transaction -> true);

            assertThat(faults.connections()).isEqualTo(before + 1);
        }
    }

    @Test
    void run_limitsOnH2_areInForceDuringTheTransactionAndPutBack() throws SQLException {
        try (Connection connection = database.dataSource().getConnection()) {
            setLimits(connection, 600_000, 700_000);
            JdbiTransactionRunner runner = JdbiTransactionRunner.of(Lending.of(connection));
            TransactionLimits limits =
                    LIMITS.withLockWait(Duration.ofMillis(123)).withStatement(Duration.ofMillis(4567));

            assertThat(runner.<List<Long>, RuntimeException>run(limits, JdbiTransactionRunnerSessionTest::limits))
                    .containsExactly(123L, 4567L);
            assertThat(limits(connection)).containsExactly(600_000L, 700_000L);
            assertThatThrownBy(() -> runner.run(limits, transaction -> {
                        throw new IllegalStateException("from the work");
                    }))
                    .hasMessage("from the work");
            assertThat(limits(connection)).containsExactly(600_000L, 700_000L);
        }
    }

    /** Without the limit this would wait for ten minutes. */
    @Test
    void run_rowLockedByAnother_endsAtTheLimitAndNotAtTheDatabasesOwn() throws Exception {
        database.execute("INSERT INTO effect (id) VALUES ('locked')");
        try (Connection holder = database.dataSource().getConnection();
                Connection connection = database.dataSource().getConnection();
                Statement lock = holder.createStatement()) {
            holder.setAutoCommit(false);
            lock.execute("UPDATE effect SET id = 'held' WHERE id = 'locked'");
            setLimits(connection, 600_000, 0);
            JdbiTransactionRunner runner = JdbiTransactionRunner.of(Lending.of(connection));

            CompletableFuture<Throwable> waiting = CompletableFuture.supplyAsync(() ->
                    catchThrowable(() -> runner.run(LIMITS.withLockWait(Duration.ofMillis(50)), transaction -> {
                        try (Statement statement =
                                transaction.unwrap(Connection.class).createStatement()) {
                            return statement.executeUpdate("DELETE FROM effect WHERE id = 'locked'");
                        }
                    })));

            assertThat(waiting.get(60, TimeUnit.SECONDS))
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            failure ->
                                    assertThat(SqlErrors.isLockTimeout(failure)).isTrue());
            holder.rollback();
        }
    }

    private static void setLimits(Connection connection, int lockTimeout, int queryTimeout) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET LOCK_TIMEOUT " + lockTimeout);
            statement.execute("SET QUERY_TIMEOUT " + queryTimeout);
        }
    }

    private static List<Long> limits(Transaction transaction) {
        return limits(transaction.unwrap(Connection.class));
    }

    private static List<Long> limits(Connection connection) {
        return List.of(
                TestDatabase.number(connection, "SELECT LOCK_TIMEOUT()"),
                TestDatabase.number(
                        connection,
                        "SELECT CAST(SETTING_VALUE AS BIGINT) FROM INFORMATION_SCHEMA.SETTINGS"
                                + " WHERE SETTING_NAME = 'QUERY_TIMEOUT'"));
    }

    @Test
    void claim_afterwards_theLockTimeoutIsAsBefore() {
        JdbiIdempotencyStore store = JdbiIdempotencyStore.of(database.dataSource());
        JdbiTransactionRunner.of(database.dataSource()).run(LIMITS, transaction -> {
            Connection connection = transaction.unwrap(Connection.class);
            long before = TestDatabase.number(connection, "SELECT LOCK_TIMEOUT()");
            store.claim(transaction, TestRequests.fresh());
            assertThat(TestDatabase.number(connection, "SELECT LOCK_TIMEOUT()")).isEqualTo(before);
            return true;
        });
    }
}
