package dev.idempotency.jdbi;

import static dev.idempotency.jdbi.EngineUnderTest.answer;
import static dev.idempotency.jdbi.EngineUnderTest.newOperation;
import static dev.idempotency.jdbi.EngineUnderTest.succeeded;
import static dev.idempotency.jdbi.EngineUnderTest.withOtherFingerprint;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.ClaimLostException;
import dev.idempotency.LeaseSettings;
import dev.idempotency.LeasedOperation;
import dev.idempotency.LeasedStart;
import dev.idempotency.Operation;
import dev.idempotency.OperationOutcome;
import dev.idempotency.Protection;
import dev.idempotency.WorkResult;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Reason;
import dev.idempotency.shutdown.ShutdownReport;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.testkit.fault.Fault;
import dev.idempotency.testkit.fault.JdbcPoint;
import java.sql.SQLException;
import java.time.Duration;
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

/** The rules of the engine under LEASED, each with real transactions. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class SqlLeasedEngineContract {
    private static final Duration DEADLINE = Duration.ofSeconds(60);

    /** Longer than any lease of these tests. */
    private static final Duration BEYOND_THE_LEASE = Duration.ofHours(2);

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private EngineUnderTest engine;

    abstract TestDatabase database();

    @BeforeAll
    void start() {
        engine = withLease(Duration.ofHours(1));
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

    private EngineUnderTest withLease(Duration lease) {
        return new EngineUnderTest(
                database(), options -> options.lease(new LeaseSettings(lease, Duration.ofHours(12))));
    }

    private static Operation operation() {
        return newOperation(Protection.LEASED);
    }

    private static <T> T result(Future<T> future) throws Exception {
        return future.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    }

    private LeasedOperation begin(Operation operation) {
        LeasedStart start = engine.idempotency().begin(operation);
        assertThat(start).isInstanceOf(LeasedStart.Started.class);
        return ((LeasedStart.Started) start).operation();
    }

    private OperationOutcome repeat(Operation operation) throws SQLException {
        EngineUnderTest.Charging again = engine.charging(operation);
        OperationOutcome outcome = engine.execute(operation, again);
        assertThat(again.runs()).as("runs of a repeat").isZero();
        return outcome;
    }

    @Test
    void execute_first_recordsTheResult() throws Exception {
        Operation operation = operation();
        assertThat(engine.execute(operation, engine.charging(operation)))
                .isEqualTo(new OperationOutcome.Executed(succeeded("charged")));
        assertThat(repeat(operation)).isEqualTo(new OperationOutcome.Replayed(answer("charged")));
        assertThat(repeat(withOtherFingerprint(operation))).isEqualTo(new OperationOutcome.Mismatch());
        assertThat(engine.effects(operation)).isEqualTo(1);
    }

    @Test
    void begin_whileRunning_isInProgressAndOtherFingerprintIsMismatch() throws Exception {
        Operation operation = operation();
        LeasedOperation running = begin(operation);
        assertThat(running.context().isLeaseValid()).isTrue();
        assertThat(running.context().transaction()).isEmpty();
        assertThat(repeat(operation)).isInstanceOf(OperationOutcome.InProgress.class);
        assertThat(repeat(withOtherFingerprint(operation))).isEqualTo(new OperationOutcome.Mismatch());
        assertThat(running.finish(succeeded("done"))).isInstanceOf(OperationOutcome.Executed.class);
        assertThat(repeat(operation)).isEqualTo(new OperationOutcome.Replayed(answer("done")));
    }

    @Test
    void execute_workThrows_passesUntouchedAndSpendsTheKey() throws Exception {
        Operation operation = operation();
        SQLException failure = new SQLException("asked for by the test");
        assertThatThrownBy(() -> engine.execute(operation, context -> {
                    throw failure;
                }))
                .isSameAs(failure);
        assertThat(repeat(operation)).isInstanceOf(OperationOutcome.Unavailable.class);
    }

    @Test
    void execute_workDiesOfAnError_spendsTheKey() throws Exception {
        Operation operation = operation();
        assertThatThrownBy(() -> engine.execute(operation, context -> {
                    throw new AssertionError("asked for by the test");
                }))
                .isInstanceOf(AssertionError.class);
        assertThat(repeat(operation)).isInstanceOf(OperationOutcome.Unavailable.class);
    }

    @Test
    void execute_workThrowsWithoutEffect_freesTheKey() throws Exception {
        Operation operation = operation();
        assertThatThrownBy(() -> engine.execute(operation, context -> {
                    context.markNoEffect();
                    throw new IllegalStateException("asked for by the test");
                }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(engine.execute(operation, engine.charging(operation))).isInstanceOf(OperationOutcome.Executed.class);
    }

    @Test
    void execute_workFailed_isKeptUnlessWithoutEffect() throws Exception {
        WorkResult failed = new WorkResult.Failed(answer("failed"));
        Operation doubtful = operation();
        engine.execute(doubtful, context -> failed);
        assertThat(repeat(doubtful)).isEqualTo(new OperationOutcome.Replayed(answer("failed")));

        Operation clean = operation();
        engine.execute(clean, context -> {
            context.markNoEffect();
            return failed;
        });
        assertThat(engine.execute(clean, engine.charging(clean))).isInstanceOf(OperationOutcome.Executed.class);
    }

    /** T7: what succeeded is never given back, whatever the work has said before. */
    @Test
    void execute_workSucceededAfterDeclaringNoEffect_isKept() throws Exception {
        Operation operation = operation();
        engine.execute(operation, context -> {
            context.markNoEffect();
            return succeeded("charged");
        });
        assertThat(repeat(operation)).isEqualTo(new OperationOutcome.Replayed(answer("charged")));
    }

    @Test
    void finish_twice_isRefused() {
        LeasedOperation running = begin(operation());
        running.finish(succeeded("done"));
        assertThatThrownBy(() -> running.finish(succeeded("again"))).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(running::fail).isInstanceOf(IllegalStateException.class);
    }

    /** T7: a result that cannot be stored leaves the key busy, never free. */
    @Test
    void finish_storeDown_isUnknownAndNeverReleased() throws Exception {
        Operation operation = operation();
        LeasedOperation running = begin(operation);
        engine.faults().inject(JdbcPoint.BEFORE_CONNECT, Fault.cut());
        assertThat(running.finish(succeeded("done"))).isInstanceOf(OperationOutcome.Unknown.class);
        assertThat(repeat(operation)).isInstanceOf(OperationOutcome.InProgress.class);
    }

    @Test
    void begin_storeDown_isStoreUnavailable() throws Exception {
        engine.faults().inject(JdbcPoint.BEFORE_CONNECT, Fault.cut());
        assertThat(engine.idempotency().begin(operation()))
                .isInstanceOfSatisfying(
                        LeasedStart.NotStarted.class,
                        refused -> assertThat(refused.outcome()).isInstanceOf(OperationOutcome.StoreUnavailable.class));
    }

    @Test
    void begin_abandonedClaim_isReported() throws Exception {
        Operation operation = operation();
        begin(operation);
        database().passTime(BEYOND_THE_LEASE);
        assertThat(repeat(operation)).isEqualTo(new OperationOutcome.Abandoned());
    }

    /** T5: the owner that lost its lease cannot overwrite its successor. */
    @Test
    void finish_afterASuccessorTookOver_isUnknownAndTheSuccessorsResultStands() throws Exception {
        Operation operation = operation().withAbandoned(AbandonedPolicy.RUN_AGAIN);
        LeasedOperation zombie = begin(operation);
        database().passTime(BEYOND_THE_LEASE);
        LeasedOperation successor = begin(operation);
        assertThat(successor.context().attempt()).isEqualTo(2);
        assertThat(successor.context().fencingToken())
                .isGreaterThan(zombie.context().fencingToken());
        assertThat(zombie.finish(succeeded("of the zombie")))
                .isInstanceOfSatisfying(
                        OperationOutcome.Unknown.class,
                        unknown -> assertThat(unknown.cause()).isInstanceOf(ClaimLostException.class));
        assertThat(successor.finish(succeeded("of the successor"))).isInstanceOf(OperationOutcome.Executed.class);
        assertThat(repeat(operation)).isEqualTo(new OperationOutcome.Replayed(answer("of the successor")));
    }

    @Test
    void begin_underTransactional_isRefused() {
        assertThatThrownBy(() -> engine.idempotency().begin(newOperation(Protection.TRANSACTIONAL)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void begin_duplicateThatWaits_getsTheFirstAnswer() throws Exception {
        Operation operation = operation().withMaxWait(Duration.ofMinutes(1));
        LeasedOperation running = begin(operation);
        long before = engine.faults().connections();
        Future<LeasedStart> duplicate =
                threads.submit(() -> engine.idempotency().begin(operation));
        Awaitility.await().atMost(DEADLINE).until(() -> engine.faults().connections() >= before + 2);
        assertThat(duplicate.isDone()).isFalse();
        running.finish(succeeded("done"));
        assertThat(result(duplicate))
                .isEqualTo(new LeasedStart.NotStarted(new OperationOutcome.Replayed(answer("done"))));
    }

    @Test
    void derive_inEveryAttempt_isTheSameKey() throws Exception {
        Operation operation = operation().withAbandoned(AbandonedPolicy.RUN_AGAIN);
        LeasedOperation first = begin(operation);
        database().passTime(BEYOND_THE_LEASE);
        LeasedOperation second = begin(operation);
        assertThat(second.context().derive("charge")).isEqualTo(first.context().derive("charge"));
        assertThat(second.context().derive("mail")).isNotEqualTo(first.context().derive("charge"));
        second.finish(succeeded("done"));
    }

    @Test
    void shutdown_waitsForAnOperationThatEndsElsewhere() throws Exception {
        GracefulShutdown shutdown = GracefulShutdown.ofDefaults();
        try (EngineUnderTest ending = new EngineUnderTest(database(), options -> options.shutdown(shutdown))) {
            LeasedStart start = ending.idempotency().begin(operation());
            CompletionStage<ShutdownReport> ended = shutdown.shutdown(new Reason("the test"));
            Awaitility.await().atMost(DEADLINE).until(() -> !shutdown.acceptsWork());
            assertThat(ending.idempotency().begin(operation()))
                    .isEqualTo(new LeasedStart.NotStarted(new OperationOutcome.ShuttingDown()));
            assertThat(ended.toCompletableFuture().isDone()).isFalse();
            ((LeasedStart.Started) start).operation().finish(succeeded("done"));
            ShutdownReport report = ended.toCompletableFuture().get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
            // Otherwise it ended because its grace period did.
            assertThat(report.clean()).isTrue();
        }
    }

    /** The heartbeat outlives the lease: seen by the row, which only an extension can move. */
    @Test
    void heartbeat_extendsTheLeaseWhileTheWorkRuns() throws Exception {
        try (EngineUnderTest beating = withLease(Duration.ofSeconds(3))) {
            Operation operation = operation().withAbandoned(AbandonedPolicy.RUN_AGAIN);
            LeasedStart start = beating.idempotency().begin(operation);
            Awaitility.await().atMost(DEADLINE).until(() -> beating.faults().commits() >= 4);
            assertThat(beating.idempotency().begin(operation)).isInstanceOf(LeasedStart.NotStarted.class);
            LeasedOperation running = ((LeasedStart.Started) start).operation();
            assertThat(running.finish(succeeded("done"))).isInstanceOf(OperationOutcome.Executed.class);
        }
    }

    /** A beat that finds a successor tells the work, which can still stop. */
    @Test
    void heartbeat_thatFindsTheClaimLost_tellsTheWork() throws Exception {
        try (EngineUnderTest beating = withLease(Duration.ofSeconds(3))) {
            Operation operation = operation().withAbandoned(AbandonedPolicy.RUN_AGAIN);
            LeasedOperation zombie =
                    ((LeasedStart.Started) beating.idempotency().begin(operation)).operation();
            // Retried, because a beat may come in between.
            Awaitility.await().atMost(DEADLINE).until(() -> {
                database().passTime(BEYOND_THE_LEASE);
                return engine.idempotency().begin(operation) instanceof LeasedStart.Started;
            });
            Awaitility.await().atMost(DEADLINE).until(() -> !zombie.context().isLeaseValid());
            assertThat(zombie.finish(succeeded("of the zombie"))).isInstanceOf(OperationOutcome.Unknown.class);
        }
    }
}
