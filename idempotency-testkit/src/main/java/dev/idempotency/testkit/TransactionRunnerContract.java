package dev.idempotency.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.idempotency.StoreUnavailableException;
import dev.idempotency.testkit.fault.Fault;
import dev.idempotency.testkit.fault.FaultInjectingDataSource;
import dev.idempotency.testkit.fault.JdbcPoint;
import dev.idempotency.transaction.CommitFailedException;
import dev.idempotency.transaction.OutcomeUnknownException;
import dev.idempotency.transaction.RolledBackException;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What every {@link TransactionRunner} on JDBC must do; a runner's test inherits it and says how to make one.
 *
 * <p>It keeps rows in a table {@code runner_effect} of its own, which it creates in the connection's schema.
 */
public abstract class TransactionRunnerContract {
    private static final TransactionLimits LIMITS = TransactionLimits.ofDefaults();
    private static final Duration DEADLINE = Duration.ofSeconds(60);

    /** A class 23 error, which the contract provokes by inserting a row twice. */
    private static final String DUPLICATE = "INSERT INTO runner_effect (id) VALUES (1)";

    private FaultInjectingDataSource faults;
    private DataSource pool;
    private TransactionRunner runner;

    /** For subclasses. */
    @SuppressWarnings("NullAway.Init") // set before each test
    protected TransactionRunnerContract() {}

    /**
     * Returns the database, without a pool.
     *
     * @return a data source that opens a new connection for each call
     */
    protected abstract DataSource database();

    /**
     * Returns a pool, or the argument where the test is to do without one.
     *
     * @param connections where the pool gets its connections
     * @return what the runner is made on; the subclass closes it after the test
     */
    protected abstract DataSource pool(DataSource connections);

    /**
     * Returns the runner under test.
     *
     * @param dataSource what {@link #pool} returned
     * @return the runner
     */
    protected abstract TransactionRunner runner(DataSource dataSource);

    @BeforeEach
    final void prepareRunner() throws SQLException {
        outside("DROP TABLE IF EXISTS runner_effect");
        outside("CREATE TABLE runner_effect (id int NOT NULL PRIMARY KEY)");
        faults = FaultInjectingDataSource.wrap(database());
        pool = pool(faults);
        runner = runner(pool);
    }

    private void outside(String sql) throws SQLException {
        try (Connection connection = database().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private List<Integer> effects() throws SQLException {
        List<Integer> ids = new ArrayList<>();
        try (Connection connection = database().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT id FROM runner_effect ORDER BY id")) {
            while (rows.next()) {
                ids.add(rows.getInt(1));
            }
        }
        return ids;
    }

    private static void insert(Transaction transaction, int id) throws SQLException {
        try (Statement statement = transaction.unwrap(Connection.class).createStatement()) {
            statement.executeUpdate("INSERT INTO runner_effect (id) VALUES (" + id + ")");
        }
    }

    /** The pool must be able to serve after whatever happened: more often than it has connections. */
    private void assertPoolIsHealthy() throws SQLException {
        faults.clearFaults();
        for (int i = 100; i < 140; i++) {
            int id = i;
            runner.run(LIMITS, transaction -> {
                insert(transaction, id);
                return true;
            });
        }
        assertThat(effects()).contains(100, 139);
    }

    @Test
    void run_workReturns_commitsAndGivesItsValue() throws SQLException {
        String value = runner.run(LIMITS, transaction -> {
            insert(transaction, 1);
            return "value";
        });

        assertThat(value).isEqualTo("value");
        assertThat(effects()).containsExactly(1);
    }

    @Test
    void run_uncommitted_isInvisibleOutside() throws SQLException {
        runner.run(LIMITS, transaction -> {
            insert(transaction, 1);
            assertThat(effects()).isEmpty();
            return true;
        });
        assertThat(effects()).containsExactly(1);
    }

    @Test
    void run_workThrowsChecked_rollsBackAndPassesItUntouched() throws SQLException {
        assertPassesUntouched(new IOException("from the work"));
    }

    @Test
    void run_workThrowsUnchecked_rollsBackAndPassesItUntouched() throws SQLException {
        assertPassesUntouched(new IllegalStateException("from the work"));
    }

    private void assertPassesUntouched(Exception thrown) throws SQLException {
        Throwable caught = catchThrowable(() -> runner.run(LIMITS, transaction -> {
            insert(transaction, 1);
            throw thrown;
        }));

        assertThat(caught).isSameAs(thrown);
        assertThat(effects()).isEmpty();
        assertPoolIsHealthy();
    }

    @Test
    void run_workThrowsError_rollsBackAndPassesItUntouched() throws SQLException {
        AssertionError thrown = new AssertionError("from the work");

        Throwable caught = catchThrowable(() -> runner.run(LIMITS, transaction -> {
            insert(transaction, 1);
            throw thrown;
        }));

        assertThat(caught).isSameAs(thrown);
        assertThat(effects()).isEmpty();
        assertPoolIsHealthy();
    }

    @Test
    void run_setRollbackOnly_rollsBackAndGivesItsValue() throws SQLException {
        String value = runner.run(LIMITS, transaction -> {
            insert(transaction, 1);
            assertThat(transaction.isRollbackOnly()).isFalse();
            transaction.setRollbackOnly();
            assertThat(transaction.isRollbackOnly()).isTrue();
            return "value";
        });

        assertThat(value).isEqualTo("value");
        assertThat(effects()).isEmpty();
    }

    @Test
    void run_limits_areThoseGiven() throws SQLException {
        TransactionLimits limits = LIMITS.withLockWait(Duration.ofMillis(123));

        assertThat(runner.<TransactionLimits, SQLException>run(limits, Transaction::limits))
                .isEqualTo(limits);
    }

    @Test
    void run_inside_isRefusedAndTheOuterGoesOn() throws SQLException {
        runner.run(LIMITS, transaction -> {
            assertThatIllegalStateException().isThrownBy(() -> runner.run(LIMITS, inner -> true));
            insert(transaction, 1);
            return true;
        });

        assertThat(effects()).containsExactly(1);
        assertPoolIsHealthy();
    }

    @Test
    void run_manyThreads_eachHasItsOwnTransaction() throws SQLException {
        try (Crew crew = new Crew(4, DEADLINE)) {
            crew.together(member -> {
                for (int i = 0; i < 20; i++) {
                    int id = member * 100 + i;
                    runner.run(LIMITS, transaction -> {
                        insert(transaction, id);
                        if (id % 2 == 1) {
                            transaction.setRollbackOnly();
                        }
                        return true;
                    });
                }
                return true;
            });
        }
        assertThat(effects()).hasSize(40).allMatch(id -> id % 2 == 0);
    }

    @Test
    void unwrap_connection_cannotEndTheTransaction() throws SQLException {
        assertThatThrownBy(() -> runner.run(LIMITS, transaction -> {
                    insert(transaction, 1);
                    transaction.unwrap(Connection.class).commit();
                    return true;
                }))
                .isInstanceOf(SQLException.class);
        assertThat(effects()).isEmpty();

        runner.run(LIMITS, transaction -> {
            transaction.unwrap(Connection.class).close();
            insert(transaction, 2);
            return true;
        });
        assertThat(effects()).containsExactly(2);
    }

    @Test
    void unwrap_somethingElse_isRefusedWithWhatThereIs() throws SQLException {
        runner.run(LIMITS, transaction -> {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> transaction.unwrap(StringBuilder.class))
                    .withMessageContaining(Connection.class.getName());
            return true;
        });
    }

    @Test
    void unwrap_afterTheEnd_isRefused() throws SQLException {
        AtomicReference<Transaction> kept = new AtomicReference<>();
        AtomicReference<Connection> connection = new AtomicReference<>();
        runner.run(LIMITS, transaction -> {
            kept.set(transaction);
            connection.set(transaction.unwrap(Connection.class));
            return true;
        });

        Transaction ended = Optional.ofNullable(kept.get()).orElseThrow();
        Connection stale = Optional.ofNullable(connection.get()).orElseThrow();
        assertThatIllegalStateException().isThrownBy(() -> ended.unwrap(Connection.class));
        assertThatThrownBy(() -> insertOn(stale)).isInstanceOf(SQLException.class);
        assertThat(effects()).isEmpty();
    }

    private static void insertOn(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate(DUPLICATE);
        }
    }

    @Test
    void afterCommit_commit_runsInOrderWithTheConnectionGivenBack() throws SQLException {
        List<String> seen = new ArrayList<>();
        runner.run(LIMITS, transaction -> {
            transaction.afterCommit(() -> seen.add("first, connections in use: " + faults.openConnections()));
            transaction.afterCommit(() -> {
                throw new IllegalStateException("from an action, to be logged");
            });
            transaction.afterCommit(() -> seen.add("second, effects: " + effectsUnchecked()));
            transaction.afterCommit(() -> runner.run(LIMITS, next -> seen.add("third, in a transaction")));
            insert(transaction, 1);
            return true;
        });

        assertThat(seen).hasSize(3);
        assertThat(seen.get(1)).isEqualTo("second, effects: [1]");
        assertThat(seen.get(2)).startsWith("third");
    }

    private List<Integer> effectsUnchecked() {
        try {
            return effects();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void afterCommit_rollback_doesNotRun() {
        AtomicBoolean ran = new AtomicBoolean();
        runner.run(LIMITS, transaction -> {
            transaction.afterCommit(() -> ran.set(true));
            transaction.setRollbackOnly();
            return true;
        });
        assertThat(ran).isFalse();
    }

    @Test
    void afterCommit_unknownCommit_doesNotRun() {
        AtomicBoolean ran = new AtomicBoolean();
        faults.inject(JdbcPoint.AFTER_COMMIT, Fault.cut());

        assertThatThrownBy(() -> runner.run(LIMITS, transaction -> {
                    transaction.afterCommit(() -> ran.set(true));
                    insert(transaction, 1);
                    return true;
                }))
                .isInstanceOf(OutcomeUnknownException.class);
        assertThat(ran).isFalse();
    }

    /** PostgreSQL aborts the transaction and answers COMMIT with a rollback; other databases undo the statement alone. */
    @Test
    void run_swallowedError_isCommittedWholeOrNotAtAll() throws SQLException {
        Throwable failure = catchThrowable(() -> runner.run(LIMITS, transaction -> {
            insert(transaction, 1);
            assertThatThrownBy(() -> insert(transaction, 1)).isInstanceOf(SQLException.class);
            return true;
        }));

        if (failure == null) {
            assertThat(effects()).containsExactly(1);
        } else {
            assertThat(failure)
                    .isInstanceOf(RolledBackException.class)
                    .cause()
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            cause -> assertThat(cause.getSQLState()).startsWith("23"));
            assertThat(effects()).isEmpty();
        }
        assertPoolIsHealthy();
    }

    @Test
    void run_errorUndoneBySavepoint_commitsTheRest() throws SQLException {
        runner.run(LIMITS, transaction -> {
            insert(transaction, 1);
            Connection connection = transaction.unwrap(Connection.class);
            var savepoint = connection.setSavepoint();
            assertThatThrownBy(() -> insert(transaction, 1)).isInstanceOf(SQLException.class);
            connection.rollback(savepoint);
            insert(transaction, 2);
            return true;
        });

        assertThat(effects()).containsExactly(1, 2);
    }

    @Test
    void run_swallowedDeadlock_isRolledBack() throws SQLException {
        faults.inject(JdbcPoint.AFTER_EXECUTE, sql -> sql.contains("VALUES (2)"), 1, Fault.error("40P01"));

        assertThatThrownBy(() -> runner.run(LIMITS, transaction -> {
                    insert(transaction, 1);
                    assertThatThrownBy(() -> insert(transaction, 2)).isInstanceOf(SQLException.class);
                    assertThat(transaction.isRollbackOnly()).isTrue();
                    return true;
                }))
                .isInstanceOf(RolledBackException.class)
                .cause()
                .isInstanceOfSatisfying(
                        SQLException.class,
                        cause -> assertThat(cause.getSQLState()).isEqualTo("40P01"));
        assertThat(effects()).isEmpty();
        assertPoolIsHealthy();
    }

    @Test
    void run_connectionLostInTheWork_leavesNothing() throws SQLException {
        faults.inject(JdbcPoint.BEFORE_EXECUTE, sql -> sql.contains("VALUES (2)"), 1, Fault.cut());

        assertThatThrownBy(() -> runner.run(LIMITS, transaction -> {
                    insert(transaction, 1);
                    assertThatThrownBy(() -> insert(transaction, 2)).isInstanceOf(SQLException.class);
                    return true;
                }))
                .isInstanceOf(RolledBackException.class);
        assertThat(effects()).isEmpty();
        assertPoolIsHealthy();
    }

    @Test
    void run_commitRefused_saysSoAndLeavesNothing() throws SQLException {
        for (String sqlState : List.of("23505", "40001", "40P01")) {
            faults.inject(JdbcPoint.BEFORE_COMMIT, Fault.error(sqlState));
            assertThatThrownBy(() -> runner.run(LIMITS, transaction -> {
                        insert(transaction, 1);
                        return true;
                    }))
                    .as(sqlState)
                    .isInstanceOf(CommitFailedException.class)
                    .hasCauseInstanceOf(SQLException.class);
            assertThat(effects()).isEmpty();
        }
        assertPoolIsHealthy();
    }

    @Test
    void run_commitFailsInAnyOtherWay_isUnknown() throws SQLException {
        for (String sqlState : List.of("40003", "08006", "08007", "57P01", "XX000", "57014", "HY000")) {
            faults.inject(JdbcPoint.BEFORE_COMMIT, Fault.error(sqlState));
            assertThatThrownBy(() -> runner.run(LIMITS, transaction -> {
                        insert(transaction, 1);
                        return true;
                    }))
                    .as(sqlState)
                    .isInstanceOf(OutcomeUnknownException.class);
        }
        assertPoolIsHealthy();
    }

    /** The error left the transaction open: only if its connection is gone has it let go of the row. */
    @Test
    void run_commitUnknown_throwsTheConnectionAway() throws SQLException {
        faults.inject(JdbcPoint.BEFORE_COMMIT, Fault.error("08007"));
        assertThatThrownBy(() -> runner.run(LIMITS, transaction -> {
                    insert(transaction, 1);
                    return true;
                }))
                .isInstanceOf(OutcomeUnknownException.class);

        runner.run(LIMITS, transaction -> {
            insert(transaction, 1);
            return true;
        });

        assertThat(effects()).containsExactly(1);
        assertPoolIsHealthy();
    }

    @Test
    void run_commitAnswerLost_isUnknownAndMayHaveHappened() throws SQLException {
        faults.inject(JdbcPoint.AFTER_COMMIT, Fault.cut());

        assertThatThrownBy(() -> runner.run(LIMITS, transaction -> {
                    insert(transaction, 1);
                    return true;
                }))
                .isInstanceOf(OutcomeUnknownException.class);

        assertThat(effects()).containsExactly(1);
        assertPoolIsHealthy();
    }

    @Test
    void run_noConnection_isUnavailableAndTheWorkDoesNotRun() throws SQLException {
        AtomicBoolean ran = new AtomicBoolean();
        for (int i = 0; i < 20; i++) {
            faults.inject(JdbcPoint.BEFORE_CONNECT, Fault.error("08001"));
        }
        TransactionRunner fresh = runner(faults);

        assertThatThrownBy(() -> fresh.run(LIMITS, transaction -> {
                    ran.set(true);
                    return true;
                }))
                .isInstanceOf(StoreUnavailableException.class);
        assertThat(ran).isFalse();
        assertPoolIsHealthy();
    }

    @Test
    void run_rollbackFails_addsItToTheCauseAndThrowsTheConnectionAway() throws SQLException {
        IllegalStateException thrown = new IllegalStateException("from the work");
        faults.inject(JdbcPoint.BEFORE_ROLLBACK, Fault.error("08006"));

        Throwable caught = catchThrowable(() -> runner.run(LIMITS, transaction -> {
            insert(transaction, 1);
            throw thrown;
        }));

        assertThat(caught).isSameAs(thrown);
        assertThat(thrown.getSuppressed()).hasAtLeastOneElementOfType(SQLException.class);
        assertPoolIsHealthy();
        assertThat(effects()).doesNotContain(1);
    }

    @Test
    void run_afterwards_theConnectionsModeIsAsBefore() throws SQLException {
        boolean before = autoCommitOfThePool();

        runner.run(LIMITS, transaction -> true);
        assertThat(autoCommitOfThePool()).isEqualTo(before);
        runner.run(LIMITS, transaction -> {
            transaction.setRollbackOnly();
            return true;
        });
        assertThat(autoCommitOfThePool()).isEqualTo(before);
    }

    private boolean autoCommitOfThePool() throws SQLException {
        try (Connection connection = pool.getConnection()) {
            return connection.getAutoCommit();
        }
    }
}
