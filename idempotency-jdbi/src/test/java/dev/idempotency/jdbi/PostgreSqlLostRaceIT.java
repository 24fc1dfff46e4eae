package dev.idempotency.jdbi;

import static dev.idempotency.jdbi.EngineUnderTest.answer;
import static dev.idempotency.jdbi.EngineUnderTest.newOperation;
import static dev.idempotency.jdbi.EngineUnderTest.succeeded;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.ClaimLostException;
import dev.idempotency.LeasedStart;
import dev.idempotency.Operation;
import dev.idempotency.OperationOutcome;
import dev.idempotency.Protection;
import dev.idempotency.RecordId;
import dev.idempotency.WorkResult;
import dev.idempotency.testkit.fault.Fault;
import dev.idempotency.testkit.fault.Gate;
import dev.idempotency.testkit.fault.JdbcPoint;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Claims that the advisory lock does not keep apart, as those of a version that computes it in another way would be: the
 * unique key decides, and whoever loses looks again, a bounded number of times (rule T10).
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PostgreSqlLostRaceIT {
    private static final Duration DEADLINE = Duration.ofSeconds(60);
    private static final TransactionLimits LIMITS = TransactionLimits.ofDefaults();

    private final PostgreSqlTestDatabase database = new PostgreSqlTestDatabase();
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterAll
    void close() {
        threads.shutdownNow();
        database.close();
    }

    private EngineUnderTest engine(Function<PostgreSqlOperationSql, OperationRecords> records) {
        return new EngineUnderTest(database, UnaryOperator.identity(), dataSource -> store(dataSource, records));
    }

    private static JdbiIdempotencyStore store(
            DataSource dataSource, Function<PostgreSqlOperationSql, OperationRecords> records) {
        TableNames names = TableNames.ofDefaults();
        StoreDatabase connected = StoreDatabase.connect(dataSource, names, SchemaSubject.OPERATIONS);
        PostgreSqlLimits limits = connected.inOwnTransaction(
                "The look at the settings", LIMITS, (transaction, connection) -> PostgreSqlLimits.probe(connection));
        return new JdbiIdempotencyStore(connected, records.apply(new PostgreSqlOperationSql(names, limits)), LIMITS);
    }

    private static <T> T result(Future<T> future) throws Exception {
        return future.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    }

    private Future<OperationOutcome> inBackground(EngineUnderTest engine, Operation operation, Gate gate) {
        EngineUnderTest.Charging work = engine.charging(operation, context -> {
            gate.pass();
            return succeeded("background");
        });
        return threads.submit(() -> engine.execute(operation, work));
    }

    private boolean isSomebodyWaiting() {
        try (Connection connection = database.dataSource().getConnection()) {
            return TestDatabase.number(
                            connection,
                            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                                    + " AND wait_event_type = 'Lock'")
                    > 0;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private void awaitWaiting() {
        long end = System.nanoTime() + DEADLINE.toNanos();
        while (!isSomebodyWaiting()) {
            assertThat(System.nanoTime()).as("time for a transaction to wait").isLessThan(end);
            Thread.onSpinWait();
        }
    }

    @Test
    void execute_winnerHasCommitted_theLoserIsRolledBackAndReplayed() throws Exception {
        try (EngineUnderTest engine = engine(TakesNoLock::new)) {
            Operation operation = newOperation(Protection.TRANSACTIONAL);
            Gate gate = new Gate();
            Future<OperationOutcome> loser = inBackground(engine, operation, gate);
            gate.awaitReached(DEADLINE);
            assertThat(engine.execute(operation, engine.charging(operation)))
                    .isInstanceOf(OperationOutcome.Executed.class);
            gate.open();

            assertThat(result(loser)).isEqualTo(new OperationOutcome.Replayed(answer("charged")));
            assertThat(engine.effects(operation)).isEqualTo(1);
        }
    }

    @Test
    void execute_winnerCommitsWhileTheLoserWaitsOnTheKey_theLoserIsReplayed() throws Exception {
        try (EngineUnderTest engine = engine(TakesNoLock::new)) {
            Operation operation = newOperation(Protection.TRANSACTIONAL);
            Gate beforeCommit = new Gate();
            engine.faults().inject(JdbcPoint.BEFORE_COMMIT, Fault.hold(beforeCommit));
            Future<OperationOutcome> winner = inBackground(engine, operation, open());
            beforeCommit.awaitReached(DEADLINE);
            Future<OperationOutcome> loser = inBackground(engine, operation, open());
            awaitWaiting();
            beforeCommit.open();

            assertThat(result(winner)).isInstanceOf(OperationOutcome.Executed.class);
            assertThat(result(loser)).isEqualTo(new OperationOutcome.Replayed(answer("background")));
            assertThat(engine.effects(operation)).isEqualTo(1);
        }
    }

    @Test
    void execute_firstRollsBackWhileTheSecondWaitsOnTheKey_theSecondIsExecuted() throws Exception {
        try (EngineUnderTest engine = engine(TakesNoLock::new)) {
            Operation operation = newOperation(Protection.TRANSACTIONAL);
            Gate beforeCommit = new Gate();
            engine.faults()
                    .inject(JdbcPoint.BEFORE_COMMIT, Fault.hold(beforeCommit).then(Fault.cut()));
            Future<OperationOutcome> first = inBackground(engine, operation, open());
            beforeCommit.awaitReached(DEADLINE);
            Future<OperationOutcome> second = inBackground(engine, operation, open());
            awaitWaiting();
            beforeCommit.open();

            assertThat(result(second)).isInstanceOf(OperationOutcome.Executed.class);
            assertThat(result(first))
                    .as("the first looks the key up: by then the second's record may be there")
                    .isInstanceOfAny(
                            OperationOutcome.NotCommitted.class,
                            OperationOutcome.Unknown.class,
                            OperationOutcome.Replayed.class);
            assertThat(engine.effects(operation)).isEqualTo(1);
        }
    }

    private static Gate open() {
        Gate gate = new Gate();
        gate.open();
        return gate;
    }

    /** The hash of two keys can be the same: that costs a needless refusal, and nothing runs. */
    @Test
    void execute_lockHeldForAnotherKeyWithTheSameHash_isInProgressAndRunsLater() throws Exception {
        try (EngineUnderTest engine = engine(OneHashForAll::new)) {
            Operation operation = newOperation(Protection.TRANSACTIONAL);
            Operation stranger = newOperation(Protection.TRANSACTIONAL);
            Gate gate = new Gate();
            Future<OperationOutcome> running = inBackground(engine, stranger, gate);
            gate.awaitReached(DEADLINE);
            EngineUnderTest.Charging work = engine.charging(operation);

            assertThat(engine.execute(operation, work)).isInstanceOf(OperationOutcome.InProgress.class);
            assertThat(work.runs()).isZero();
            gate.open();
            assertThat(result(running)).isInstanceOf(OperationOutcome.Executed.class);
            assertThat(engine.execute(operation, work)).isInstanceOf(OperationOutcome.Executed.class);
            assertThat(engine.effects(operation)).isEqualTo(1);
            assertThat(engine.effects(stranger)).isEqualTo(1);
        }
    }

    @Test
    void begin_claimWaitsOnTheKeyOfAnother_looksAgainAndIsInProgress() throws Exception {
        try (EngineUnderTest engine = engine(TakesNoLock::new)) {
            Operation operation = newOperation(Protection.LEASED);
            Gate beforeCommit = new Gate();
            engine.faults().inject(JdbcPoint.BEFORE_COMMIT, Fault.hold(beforeCommit));
            Future<LeasedStart> winner =
                    threads.submit(() -> engine.idempotency().begin(operation));
            beforeCommit.awaitReached(DEADLINE);
            Future<LeasedStart> loser =
                    threads.submit(() -> engine.idempotency().begin(operation));
            awaitWaiting();
            beforeCommit.open();

            LeasedStart started = result(winner);
            assertThat(started).isInstanceOf(LeasedStart.Started.class);
            assertThat(result(loser))
                    .isInstanceOfSatisfying(
                            LeasedStart.NotStarted.class,
                            notStarted ->
                                    assertThat(notStarted.outcome()).isInstanceOf(OperationOutcome.InProgress.class));
            WorkResult done = succeeded("done");
            assertThat(((LeasedStart.Started) started).operation().finish(done))
                    .isEqualTo(new OperationOutcome.Executed(done));
        }
    }

    /** A record that no look-up shows: the rounds end, nobody is told that he owns the key, and no raw error passes. */
    @Test
    void execute_recordThatNoLookUpShows_endsAfterABoundedNumberOfRounds() throws Exception {
        Operation operation = newOperation(Protection.TRANSACTIONAL);
        try (EngineUnderTest sighted = engine(TakesNoLock::new);
                EngineUnderTest blind = engine(SeesNothing::new)) {
            sighted.execute(operation, sighted.charging(operation));
            EngineUnderTest.Charging once = blind.charging(operation);
            EngineUnderTest.Charging often = blind.charging(operation);

            assertThat(blind.execute(operation, once))
                    .isInstanceOfSatisfying(
                            OperationOutcome.NotCommitted.class,
                            lost -> assertThat(lost.cause()).isInstanceOf(ClaimLostException.class));
            assertThat(blind.execute(operation.asRepeatable(), often))
                    .isInstanceOf(OperationOutcome.NotCommitted.class);

            assertThat(once.runs()).isEqualTo(1);
            assertThat(often.runs()).isEqualTo(5);
            assertThat(blind.effects(operation)).isEqualTo(1);
        }
    }

    @Test
    void begin_recordThatNoLookUpShows_endsAfterABoundedNumberOfRounds() throws Exception {
        Operation operation = newOperation(Protection.LEASED);
        try (EngineUnderTest sighted = engine(TakesNoLock::new);
                EngineUnderTest blind = engine(SeesNothing::new)) {
            sighted.execute(operation, context -> succeeded("done"));

            blind.faults().resetCounts();
            LeasedStart start = blind.idempotency().begin(operation);

            assertThat(start)
                    .isInstanceOfSatisfying(
                            LeasedStart.NotStarted.class,
                            notStarted ->
                                    assertThat(notStarted.outcome()).isInstanceOf(OperationOutcome.InProgress.class));
            assertThat(blind.faults().statements())
                    .filteredOn(sql -> sql.contains("INSERT"))
                    .hasSize(OperationRecords.MAX_ROUNDS);
        }
    }

    /** Looks without the lock, and so does not see who runs. */
    private static class TakesNoLock extends PostgreSqlOperationRecords {
        private final PostgreSqlOperationSql sql;

        TakesNoLock(PostgreSqlOperationSql sql) {
            super(sql, Duration.ofSeconds(1));
            this.sql = sql;
        }

        @Override
        Look look(Connection connection, TransactionLimits limits, RecordId id) throws SQLException {
            long now = TestDatabase.number(connection, "SELECT " + sql.micros(sql.now()));
            try (PreparedStatement statement = connection.prepareStatement(sql.findRow())) {
                bindId(Parameters.of(statement), id);
                try (ResultSet rows = statement.executeQuery()) {
                    return new Look(now, now, true, rows.next() ? StoredRecord.read(rows) : null);
                }
            }
        }
    }

    private static final class SeesNothing extends TakesNoLock {
        SeesNothing(PostgreSqlOperationSql sql) {
            super(sql);
        }

        @Override
        Look look(Connection connection, TransactionLimits limits, RecordId id) throws SQLException {
            Look look = super.look(connection, limits, id);
            return new Look(look.nowMicros(), look.lockedMicros(), true, null);
        }
    }

    /** As if all keys had the same hash. */
    private static final class OneHashForAll extends TakesNoLock {
        OneHashForAll(PostgreSqlOperationSql sql) {
            super(sql);
        }

        @Override
        Look look(Connection connection, TransactionLimits limits, RecordId id) throws SQLException {
            boolean locked =
                    TestDatabase.number(connection, "SELECT CAST(pg_try_advisory_xact_lock(77) AS integer)") == 1;
            Look look = super.look(connection, limits, id);
            return new Look(look.nowMicros(), look.lockedMicros(), locked, look.row());
        }
    }
}
