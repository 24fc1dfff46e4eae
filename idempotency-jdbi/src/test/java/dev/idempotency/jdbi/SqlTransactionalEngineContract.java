package dev.idempotency.jdbi;

import static dev.idempotency.jdbi.EngineUnderTest.answer;
import static dev.idempotency.jdbi.EngineUnderTest.newOperation;
import static dev.idempotency.jdbi.EngineUnderTest.succeeded;
import static dev.idempotency.jdbi.EngineUnderTest.withOtherFingerprint;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Idempotency;
import dev.idempotency.Operation;
import dev.idempotency.OperationOutcome;
import dev.idempotency.OperationWork;
import dev.idempotency.Protection;
import dev.idempotency.WorkResult;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Reason;
import dev.idempotency.shutdown.ShutdownReport;
import dev.idempotency.testkit.fault.Fault;
import dev.idempotency.testkit.fault.Gate;
import dev.idempotency.testkit.fault.JdbcPoint;
import dev.idempotency.transaction.RolledBackException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The rules of the engine under TRANSACTIONAL, each with real transactions. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class SqlTransactionalEngineContract {
    private static final Duration DEADLINE = Duration.ofSeconds(60);

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private EngineUnderTest engine;

    abstract TestDatabase database();

    @BeforeAll
    void start() {
        engine = new EngineUnderTest(database(), options -> options);
    }

    @AfterAll
    void stop() {
        threads.shutdownNow();
        engine.close();
    }

    @AfterEach
    void nothingIsLeft() {
        assertThat(engine.faults().allFaultsStruck())
                .as("every fault has struck")
                .isTrue();
        assertThat(engine.faults().openConnections()).as("connections in use").isZero();
    }

    private static Operation operation() {
        return newOperation(Protection.TRANSACTIONAL);
    }

    private Future<OperationOutcome> inBackground(Operation operation, OperationWork<?> work) {
        return threads.submit(() -> engine.execute(operation, work));
    }

    private static <T> T result(Future<T> future) throws Exception {
        return future.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    }

    private void assertReplayed(Operation operation, String text) throws SQLException {
        EngineUnderTest.Charging again = engine.charging(operation);
        assertThat(engine.execute(operation, again)).isEqualTo(new OperationOutcome.Replayed(answer(text)));
        assertThat(again.runs()).isZero();
    }

    @Test
    void execute_first_commitsEffectAndResult() throws Exception {
        Operation operation = operation();
        EngineUnderTest.Charging work = engine.charging(operation);
        assertThat(engine.execute(operation, work)).isEqualTo(new OperationOutcome.Executed(succeeded("charged")));
        assertThat(engine.effects(operation)).isEqualTo(1);
        assertReplayed(operation, "charged");
        assertThat(engine.effects(operation)).isEqualTo(1);
    }

    @Test
    void execute_otherFingerprint_isMismatch() throws Exception {
        Operation operation = operation();
        engine.execute(operation, engine.charging(operation));
        EngineUnderTest.Charging other = engine.charging(operation);
        assertThat(engine.execute(withOtherFingerprint(operation), other)).isEqualTo(new OperationOutcome.Mismatch());
        assertThat(other.runs()).isZero();
    }

    @Test
    void execute_whileTheFirstRuns_isInProgress() throws Exception {
        Gate gate = new Gate();
        Operation operation = operation();
        EngineUnderTest.Charging work = engine.charging(operation, context -> {
            gate.pass();
            return succeeded("charged");
        });
        Future<OperationOutcome> first = inBackground(operation, work);
        gate.awaitReached(DEADLINE);
        OperationOutcome duplicate = engine.execute(operation, work);
        gate.open();
        assertThat(duplicate).isInstanceOf(OperationOutcome.InProgress.class);
        assertThat(result(first)).isInstanceOf(OperationOutcome.Executed.class);
        assertThat(work.runs()).isEqualTo(1);
    }

    @Test
    void execute_workThrows_passesUntouchedAndFreesTheKey() throws Exception {
        Operation operation = operation();
        SQLException failure = new SQLException("asked for by the test");
        assertThatThrownBy(() -> engine.execute(operation, engine.charging(operation, context -> {
                    throw failure;
                })))
                .isSameAs(failure);
        assertThat(engine.effects(operation)).isZero();
        assertThat(engine.execute(operation, engine.charging(operation))).isInstanceOf(OperationOutcome.Executed.class);
    }

    @Test
    void execute_workDiesOfAnError_passesUntouchedAndFreesTheKey() throws Exception {
        Operation operation = operation();
        assertThatThrownBy(() -> engine.execute(operation, engine.charging(operation, context -> {
                    throw new AssertionError("asked for by the test");
                })))
                .isInstanceOf(AssertionError.class);
        assertThat(engine.effects(operation)).isZero();
        assertThat(engine.execute(operation, engine.charging(operation))).isInstanceOf(OperationOutcome.Executed.class);
    }

    @Test
    void execute_workFailed_rollsBackAndKeepsNothing() throws Exception {
        Operation operation = operation();
        WorkResult failed = new WorkResult.Failed(answer("failed"));
        EngineUnderTest.Charging work = engine.charging(operation, context -> failed);
        assertThat(engine.execute(operation, work)).isEqualTo(new OperationOutcome.Executed(failed));
        assertThat(engine.execute(operation, work)).isEqualTo(new OperationOutcome.Executed(failed));
        assertThat(work.runs()).isEqualTo(2);
        assertThat(engine.effects(operation)).isZero();
    }

    @Test
    void execute_workRefused_rollsBackAndKeepsTheAnswerAlone() throws Exception {
        Operation operation = operation();
        WorkResult refused = new WorkResult.Refused(answer("refused"));
        assertThat(engine.execute(operation, engine.charging(operation, context -> refused)))
                .isEqualTo(new OperationOutcome.Executed(refused));
        assertThat(engine.effects(operation)).isZero();
        assertReplayed(operation, "refused");
    }

    /** Between the rollback and the record of the answer alone, another attempt may begin. */
    @Test
    void execute_workRefusedAndOvertakenByARunningAttempt_neverRunsTwice() throws Exception {
        Gate gate = new Gate();
        Operation operation = operation().withMaxWait(Duration.ofMinutes(1));
        List<Future<OperationOutcome>> overtaking = new ArrayList<>();
        engine.faults().inject(JdbcPoint.AFTER_ROLLBACK, Fault.run(() -> {
            overtaking.add(inBackground(operation, context -> {
                gate.pass();
                return succeeded("overtaking");
            }));
            gate.awaitReached(DEADLINE);
        }));
        EngineUnderTest.Charging work =
                engine.charging(operation, context -> new WorkResult.Refused(answer("refused")));
        OperationOutcome outcome = engine.execute(operation, work);
        gate.open();
        assertThat(outcome).isInstanceOf(OperationOutcome.NotCommitted.class);
        assertThat(work.runs()).isEqualTo(1);
        assertThat(result(overtaking.get(0))).isInstanceOf(OperationOutcome.Executed.class);
        assertReplayed(operation, "overtaking");
    }

    @Test
    void execute_workRefusedAndOvertakenByARecord_isReplayed() throws Exception {
        Operation operation = operation();
        engine.faults().inject(JdbcPoint.AFTER_ROLLBACK, Fault.run(() -> {
            try {
                result(inBackground(operation, context -> succeeded("overtaking")));
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }));
        EngineUnderTest.Charging work =
                engine.charging(operation, context -> new WorkResult.Refused(answer("refused")));
        assertThat(engine.execute(operation, work)).isEqualTo(new OperationOutcome.Replayed(answer("overtaking")));
    }

    @Test
    void execute_rollbackOnlyWithSuccess_isNotCommitted() throws Exception {
        Operation operation = operation();
        OperationOutcome outcome = engine.execute(operation, engine.charging(operation, context -> {
            context.transaction().orElseThrow().setRollbackOnly();
            return succeeded("not true");
        }));
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        OperationOutcome.NotCommitted.class,
                        lost -> assertThat(lost.cause()).isInstanceOf(RolledBackException.class));
        assertThat(engine.effects(operation)).isZero();
        assertThat(engine.execute(operation, engine.charging(operation))).isInstanceOf(OperationOutcome.Executed.class);
    }

    /** A deadlock or serialization failure that the work swallows has undone it on some servers. */
    @Test
    void execute_swallowedConflict_isNotCommitted() throws Exception {
        Operation operation = operation();
        engine.faults()
                .inject(JdbcPoint.AFTER_EXECUTE, sql -> sql.startsWith("INSERT INTO effect"), 2, Fault.error("40001"));
        OperationOutcome outcome = engine.execute(operation, engine.charging(operation, context -> {
            try {
                engine.charging(operation).run(context);
            } catch (SQLException e) {
                assertThat(e.getSQLState()).isEqualTo("40001");
            }
            return succeeded("not true");
        }));
        assertThat(outcome).isInstanceOf(OperationOutcome.NotCommitted.class);
        assertThat(engine.effects(operation)).isZero();
    }

    @Test
    void execute_conflictInTheWork_runsRepeatableWorkAgain() throws Exception {
        Operation operation = operation().asRepeatable();
        engine.faults()
                .inject(JdbcPoint.BEFORE_EXECUTE, sql -> sql.startsWith("INSERT INTO effect"), 1, Fault.error("40001"));
        EngineUnderTest.Charging work = engine.charging(operation);
        assertThat(engine.execute(operation, work)).isInstanceOf(OperationOutcome.Executed.class);
        assertThat(work.runs()).isEqualTo(2);
        assertThat(engine.effects(operation)).isEqualTo(1);
    }

    @Test
    void execute_conflictInTheWork_isNotCommittedWhereItMayNotRunAgain() throws Exception {
        Operation operation = operation();
        engine.faults()
                .inject(JdbcPoint.BEFORE_EXECUTE, sql -> sql.startsWith("INSERT INTO effect"), 1, Fault.error("40001"));
        EngineUnderTest.Charging work = engine.charging(operation);
        assertThat(engine.execute(operation, work))
                .isInstanceOfSatisfying(
                        OperationOutcome.NotCommitted.class,
                        lost -> assertThat(lost.cause()).hasRootCauseInstanceOf(SQLException.class));
        assertThat(work.runs()).isEqualTo(1);
        assertThat(engine.effects(operation)).isZero();
        assertThat(engine.execute(operation, work)).isInstanceOf(OperationOutcome.Executed.class);
    }

    /** Between the loss and the look-up another attempt has come and gone: its answer is the answer. */
    @Test
    void execute_conflictInTheWork_whoseWinnerHasCompleted_isReplayed() throws Exception {
        Operation operation = operation();
        engine.faults()
                .inject(
                        JdbcPoint.BEFORE_ROLLBACK,
                        Fault.run(() -> engine.faults()
                                .inject(
                                        JdbcPoint.BEFORE_CONNECT,
                                        before -> assertThat(engine.execute(operation, engine.charging(operation)))
                                                .isInstanceOf(OperationOutcome.Executed.class))));
        OperationOutcome outcome = engine.execute(operation, engine.charging(operation, context -> {
            throw new SQLException("asked for by the test", "40P01");
        }));
        assertThat(outcome).isInstanceOf(OperationOutcome.Replayed.class);
        assertThat(engine.effects(operation)).isEqualTo(1);
    }

    @Test
    void execute_conflictThatStays_endsAfterABoundedNumberOfRounds() throws Exception {
        Operation operation = operation().asRepeatable();
        for (int round = 1; round <= 5; round++) {
            engine.faults()
                    .inject(
                            JdbcPoint.BEFORE_EXECUTE,
                            sql -> sql.startsWith("INSERT INTO effect"),
                            round,
                            Fault.error("40001"));
        }
        EngineUnderTest.Charging work = engine.charging(operation);
        assertThat(engine.execute(operation, work)).isInstanceOf(OperationOutcome.NotCommitted.class);
        assertThat(work.runs()).isEqualTo(5);
    }

    @Test
    void execute_conflictAtCommit_runsRepeatableWorkAgain() throws Exception {
        Operation operation = operation().asRepeatable();
        engine.faults().inject(JdbcPoint.BEFORE_COMMIT, Fault.error("40001"));
        EngineUnderTest.Charging work = engine.charging(operation);
        assertThat(engine.execute(operation, work)).isInstanceOf(OperationOutcome.Executed.class);
        assertThat(work.runs()).isEqualTo(2);
        assertThat(engine.effects(operation)).isEqualTo(1);
    }

    @Test
    void execute_conflictAtCommit_isNotCommittedWhereItMayNotRunAgain() throws Exception {
        Operation operation = operation();
        engine.faults().inject(JdbcPoint.BEFORE_COMMIT, Fault.error("40001"));
        EngineUnderTest.Charging work = engine.charging(operation);
        assertThat(engine.execute(operation, work)).isInstanceOf(OperationOutcome.NotCommitted.class);
        assertThat(work.runs()).isEqualTo(1);
        assertThat(engine.effects(operation)).isZero();
    }

    @Test
    void execute_storeDownAtClaim_isStoreUnavailableAndNothingRuns() throws Exception {
        Operation operation = operation();
        engine.faults().inject(JdbcPoint.BEFORE_CONNECT, Fault.cut());
        EngineUnderTest.Charging work = engine.charging(operation);
        assertThat(engine.execute(operation, work)).isInstanceOf(OperationOutcome.StoreUnavailable.class);
        engine.faults().inject(JdbcPoint.BEFORE_EXECUTE, sql -> sql.contains("idempotency_record"), 1, Fault.cut());
        assertThat(engine.execute(operation, work)).isInstanceOf(OperationOutcome.StoreUnavailable.class);
        assertThat(work.runs()).isZero();
    }

    @Test
    void execute_conflictAtClaim_isInProgress() throws Exception {
        Operation operation = operation();
        engine.faults()
                .inject(JdbcPoint.BEFORE_EXECUTE, sql -> sql.contains("idempotency_record"), 1, Fault.error("40001"));
        EngineUnderTest.Charging work = engine.charging(operation);
        assertThat(engine.execute(operation, work)).isInstanceOf(OperationOutcome.InProgress.class);
        assertThat(work.runs()).isZero();
    }

    @Test
    void execute_storeDownAtCompletion_isNotCommitted() throws Exception {
        Operation operation = operation();
        EngineUnderTest.Charging work = engine.charging(operation, context -> {
            engine.faults().inject(JdbcPoint.BEFORE_EXECUTE, sql -> sql.contains("idempotency_record"), 1, Fault.cut());
            return succeeded("not true");
        });
        assertThat(engine.execute(operation, work)).isInstanceOf(OperationOutcome.NotCommitted.class);
        assertThat(engine.effects(operation)).isZero();
    }

    /** T6: the record is absent and the claim's lock was had, so the commit did not happen. */
    @Test
    void execute_commitNeverArrived_isNotCommitted() throws Exception {
        Operation operation = operation();
        engine.faults().inject(JdbcPoint.BEFORE_COMMIT, cutForGood());
        assertThat(engine.execute(operation, engine.charging(operation)))
                .isInstanceOf(OperationOutcome.NotCommitted.class);
        assertThat(engine.effects(operation)).isZero();
        assertThat(engine.execute(operation, engine.charging(operation))).isInstanceOf(OperationOutcome.Executed.class);
    }

    /** Cuts the connection and returns when the server has noticed, so that the test knows what must be found. */
    private Fault cutForGood() {
        return connection -> {
            assertThat(connection).isNotNull();
            connection.rollback();
            Fault.cut().strike(connection);
        };
    }

    /** T6: the commit happened and its answer was lost; the record tells. */
    @Test
    void execute_answerToTheCommitLost_isReplayed() throws Exception {
        Operation operation = operation();
        engine.faults().inject(JdbcPoint.AFTER_COMMIT, Fault.cut());
        EngineUnderTest.Charging work = engine.charging(operation);
        assertThat(engine.execute(operation, work)).isEqualTo(new OperationOutcome.Replayed(answer("charged")));
        assertThat(work.runs()).isEqualTo(1);
        assertThat(engine.effects(operation)).isEqualTo(1);
    }

    @Test
    void execute_commitUnknownAndStoreDown_staysUnknown() throws Exception {
        Operation operation = operation();
        engine.faults().inject(JdbcPoint.AFTER_COMMIT, connection -> {
            engine.faults().inject(JdbcPoint.BEFORE_CONNECT, Fault.cut());
            Fault.cut().strike(connection);
        });
        assertThat(engine.execute(operation, engine.charging(operation))).isInstanceOf(OperationOutcome.Unknown.class);
        assertReplayed(operation, "charged");
    }

    /** T6: absence proves nothing while somebody holds the claim's lock. */
    @Test
    void execute_commitUnknownAndLockHeld_staysUnknown() throws Exception {
        Gate gate = new Gate();
        Operation operation = operation();
        List<Future<OperationOutcome>> holding = new ArrayList<>();
        engine.faults().inject(JdbcPoint.BEFORE_COMMIT, connection -> {
            assertThat(connection).isNotNull();
            connection.rollback();
            holding.add(inBackground(operation, context -> {
                gate.pass();
                return succeeded("holding");
            }));
            gate.awaitReached(DEADLINE);
            throw new SQLNonTransientConnectionException("asked for by the test", "08006");
        });
        OperationOutcome outcome = engine.execute(operation, engine.charging(operation));
        gate.open();
        assertThat(outcome).isInstanceOf(OperationOutcome.Unknown.class);
        assertThat(result(holding.get(0))).isInstanceOf(OperationOutcome.Executed.class);
        assertReplayed(operation, "holding");
    }

    @Test
    void execute_insideATransactionOfTheRunner_isRefused() throws Exception {
        Operation outer = operation();
        Operation inner = operation();
        assertThatThrownBy(() -> engine.execute(outer, context -> {
                    engine.execute(inner, engine.charging(inner));
                    return succeeded("never");
                }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(engine.effects(inner)).isZero();
    }

    @Test
    void execute_duplicateThatWaits_getsTheFirstAnswerAndHoldsNoConnection() throws Exception {
        Gate gate = new Gate();
        Operation operation = operation().withMaxWait(Duration.ofMinutes(1));
        EngineUnderTest.Charging work = engine.charging(operation, context -> {
            gate.pass();
            return succeeded("charged");
        });
        Future<OperationOutcome> first = inBackground(operation, work);
        gate.awaitReached(DEADLINE);
        Future<OperationOutcome> duplicate = inBackground(operation, work);
        long before = engine.faults().connections();
        // Seen again and again with the first attempt's connection alone: the duplicate takes one only to look.
        for (int look = 1; look <= 3; look++) {
            long looks = before + look;
            Awaitility.await().atMost(DEADLINE).until(() -> engine.faults().connections() >= looks);
            Awaitility.await()
                    .atMost(DEADLINE)
                    .pollInterval(Duration.ofMillis(1))
                    .until(() -> engine.faults().openConnections() == 1);
        }
        assertThat(duplicate.isDone()).isFalse();
        gate.open();
        assertThat(result(first)).isInstanceOf(OperationOutcome.Executed.class);
        assertThat(result(duplicate)).isEqualTo(new OperationOutcome.Replayed(answer("charged")));
        assertThat(work.runs()).isEqualTo(1);
    }

    @Test
    void execute_duplicateThatIsInterrupted_givesUpAndKeepsTheFlag() throws Exception {
        Gate gate = new Gate();
        Operation operation = operation().withMaxWait(Duration.ofMinutes(5));
        EngineUnderTest.Charging work = engine.charging(operation, context -> {
            gate.pass();
            return succeeded("charged");
        });
        Future<OperationOutcome> first = inBackground(operation, work);
        gate.awaitReached(DEADLINE);
        List<Thread> waiting = new ArrayList<>();
        Gate started = new Gate();
        Future<Boolean> flagKept = threads.submit(() -> {
            waiting.add(Thread.currentThread());
            started.pass();
            return engine.execute(operation, work) instanceof OperationOutcome.InProgress && Thread.interrupted();
        });
        started.awaitReached(DEADLINE);
        long before = engine.faults().connections();
        started.open();
        Awaitility.await().atMost(DEADLINE).until(() -> engine.faults().connections() > before);
        waiting.get(0).interrupt();
        assertThat(result(flagKept)).isTrue();
        gate.open();
        assertThat(result(first)).isInstanceOf(OperationOutcome.Executed.class);
    }

    @Test
    void execute_onceTheShutdownHasBegun_isRefusedAndRunningWorkIsWaitedFor() throws Exception {
        Gate gate = new Gate();
        GracefulShutdown shutdown = GracefulShutdown.ofDefaults();
        try (EngineUnderTest ending = new EngineUnderTest(database(), options -> options.shutdown(shutdown))) {
            Operation running = operation();
            Future<OperationOutcome> first = threads.submit(() -> ending.execute(running, context -> {
                gate.pass();
                return succeeded("charged");
            }));
            gate.awaitReached(DEADLINE);
            CompletionStage<ShutdownReport> ended = shutdown.shutdown(new Reason("the test"));
            Operation late = operation();
            Awaitility.await().atMost(DEADLINE).until(() -> !shutdown.acceptsWork());
            EngineUnderTest.Charging work = ending.charging(late);
            assertThat(ending.execute(late, work)).isEqualTo(new OperationOutcome.ShuttingDown());
            assertThat(work.runs()).isZero();
            assertThat(ended.toCompletableFuture().isDone()).isFalse();
            gate.open();
            assertThat(result(first)).isInstanceOf(OperationOutcome.Executed.class);
            ShutdownReport report = ended.toCompletableFuture().get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
            // Otherwise it ended because its grace period did.
            assertThat(report.clean()).isTrue();
        }
    }

    @Test
    void execute_withoutAStoreForTheProtection_isRefused() {
        JdbiIdempotencyStore store = JdbiIdempotencyStore.of(database().dataSource());
        try (Idempotency leasedOnly = Idempotency.builder().leased(store).build()) {
            assertThatThrownBy(() -> leasedOnly.execute(operation(), context -> succeeded("never")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("transactional(store, runner)");
        }
        assertThatThrownBy(() -> Idempotency.builder().build()).isInstanceOf(IllegalStateException.class);
    }
}
