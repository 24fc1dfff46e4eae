package dev.idempotency.testkit.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Fingerprint;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.KeyedOperation;
import dev.idempotency.LeasedOperation;
import dev.idempotency.LeasedStart;
import dev.idempotency.Operation;
import dev.idempotency.OperationOutcome;
import dev.idempotency.Protection;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.RecordedResult.Replayable;
import dev.idempotency.Scope;
import dev.idempotency.StoreUnavailableException;
import dev.idempotency.WorkResult;
import dev.idempotency.operation.OperationListener;
import dev.idempotency.operation.OperationReport;
import dev.idempotency.operation.OutcomeKind;
import dev.idempotency.operation.ResultCodec;
import dev.idempotency.operation.TransactionalContext;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Reason;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionRunner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class OperationListenerTest {
    private static final Replayable ANSWER = new Replayable(200, new byte[0], new byte[0]);

    private static final WorkResult STREAMED =
            new WorkResult.Succeeded(new RecordedResult.NotReplayable(200, "streamed"));

    private final InMemoryDatabase database = InMemoryDatabase.create();
    private final InMemoryIdempotencyStore store = InMemoryIdempotencyStore.of(database);
    private final List<OperationReport> reports = Collections.synchronizedList(new ArrayList<>());

    private Idempotency engine(TransactionRunner runner, InMemoryIdempotencyStore records, OperationListener listener) {
        return Idempotency.builder()
                .transactional(records, runner)
                .leased(records)
                .listener(listener)
                .build();
    }

    private KeyedOperation<TransactionalContext> charge() {
        return engine(database, store, reports::add)
                .operation("charge")
                .key("order-1")
                .fingerprint(new byte[] {1});
    }

    private List<OutcomeKind> kinds() {
        return reports.stream().map(OperationReport::kind).toList();
    }

    @SuppressWarnings("TypeParameterUnusedInFormals") // it returns nothing at all, for every type
    private static <T> T never() {
        throw new AssertionError("The work ran");
    }

    @Test
    void calls_areToldAboutOnceEach() {
        charge().execute(String.class, tx -> "done");
        charge().execute(String.class, tx -> never());
        charge().fingerprint(new byte[] {2}).tryExecute(String.class, tx -> never());
        charge().tryExecute(byte[].class, tx -> never());
        charge().tryExecute(ResultCodec.<String>of("other-1", text -> new byte[0], bytes -> ""), tx -> never());

        assertThat(kinds())
                .containsExactly(
                        OutcomeKind.EXECUTED,
                        OutcomeKind.REPLAYED,
                        OutcomeKind.MISMATCH,
                        OutcomeKind.UNREADABLE,
                        OutcomeKind.UNREADABLE);
        assertThat(reports).allSatisfy(report -> {
            assertThat(report.operation()).isEqualTo("charge");
            assertThat(report.protection()).isEqualTo(Protection.TRANSACTIONAL);
            assertThat(report.elapsed()).isPositive();
            assertThat(report.toString()).doesNotContain("order-1");
        });
    }

    @Test
    void workThrows_isFailed() {
        assertThatThrownBy(() -> charge().execute(tx -> {
                    throw new IllegalStateException("declined");
                }))
                .hasMessage("declined");
        assertThatThrownBy(() -> charge().leased().execute(context -> {
                    throw new IllegalStateException("declined");
                }))
                .hasMessage("declined");
        charge().leased().tryExecute(context -> never());

        assertThat(kinds()).containsExactly(OutcomeKind.FAILED, OutcomeKind.FAILED, OutcomeKind.NOT_REPLAYABLE);
    }

    @Test
    void duplicate_isInProgressOrReplayedAfterItsWait() throws InterruptedException {
        CountDownLatch asked = new CountDownLatch(1);
        InMemoryIdempotencyStore watched = new InMemoryIdempotencyStore(database) {
            @Override
            public ClaimOutcome claim(Transaction transaction, ClaimRequest request) {
                ClaimOutcome outcome = super.claim(transaction, request);
                if (outcome instanceof ClaimOutcome.InProgress && reports.size() == 1) {
                    asked.countDown();
                }
                return outcome;
            }
        };
        KeyedOperation<TransactionalContext> call =
                engine(database, watched, reports::add).operation("charge").key("order-1");
        Thread[] threads = new Thread[2];
        call.execute(tx -> {
            threads[0] = new Thread(() -> call.tryExecute(inner -> never()));
            threads[0].start();
            threads[0].join();
            threads[1] = new Thread(() -> call.maxWait(Duration.ofMinutes(1)).tryExecute(inner -> never()));
            threads[1].start();
            asked.await();
        });
        threads[1].join();

        assertThat(kinds())
                .containsExactlyInAnyOrder(
                        OutcomeKind.IN_PROGRESS, OutcomeKind.EXECUTED, OutcomeKind.REPLAYED_AFTER_WAIT);
    }

    @Test
    void leases_lostAndAbandoned() {
        KeyedOperation<?> leased = charge().leased();
        leased.tryExecute(context -> {
            database.passTime(Duration.ofHours(2));
            leased.tryExecute(later -> never());
            leased.abandoned(AbandonedPolicy.RUN_AGAIN).execute(later -> {});
        });

        assertThat(kinds()).containsExactly(OutcomeKind.ABANDONED, OutcomeKind.EXECUTED, OutcomeKind.LEASE_LOST);
    }

    private static Operation operation(Protection protection) {
        return Operation.of(
                new RecordId(Scope.shared("charge"), IdempotencyKey.of("order-1")), Fingerprint.none(), protection);
    }

    private static LeasedOperation started(Idempotency idempotency) {
        return ((LeasedStart.Started) idempotency.begin(operation(Protection.LEASED))).operation();
    }

    @Test
    void leasedWorkRecordedBeforeItsAnswer_isToldAboutOnce() {
        LeasedOperation running = started(engine(database, store, reports::add));
        assertThat(running.finishBeforeAnswer(STREAMED)).isInstanceOf(OperationOutcome.Executed.class);
        assertThat(kinds()).containsExactly(OutcomeKind.EXECUTED);
        running.answered();
        assertThat(kinds()).containsExactly(OutcomeKind.EXECUTED);
    }

    @Test
    void leasedWorkRecordedBeforeItsAnswer_leaseLost_isToldAbout() {
        LeasedOperation running = started(engine(database, store, reports::add));
        database.passTime(Duration.ofHours(2));
        charge().fingerprint(Fingerprint.none())
                .leased()
                .abandoned(AbandonedPolicy.RUN_AGAIN)
                .execute(later -> {});
        reports.clear();
        assertThat(running.finishBeforeAnswer(STREAMED)).isInstanceOf(OperationOutcome.Unknown.class);
        assertThat(kinds()).containsExactly(OutcomeKind.LEASE_LOST);
    }

    @Test
    void leasedWorkRecordedBeforeItsAnswer_storeDown_isToldAbout() {
        InMemoryIdempotencyStore down = new InMemoryIdempotencyStore(database) {
            @Override
            public boolean complete(Claim claim, RecordedResult result) {
                throw new StoreUnavailableException("asked for by the test", null);
            }
        };
        started(engine(database, down, reports::add)).finishBeforeAnswer(STREAMED);
        assertThat(kinds()).containsExactly(OutcomeKind.UNKNOWN);
    }

    @ParameterizedTest
    @EnumSource
    void recordedAnswerThatTheCallerCannotRead_isUnreadable(Protection protection) {
        Idempotency idempotency = engine(database, store, reports::add);
        idempotency.<RuntimeException>execute(
                operation(protection), context -> new WorkResult.Succeeded(ANSWER), outcome -> {}, ANSWER::equals);
        idempotency.<RuntimeException>execute(operation(protection), context -> never(), outcome -> {}, ANSWER::equals);
        OperationOutcome outcome = idempotency.<RuntimeException>execute(
                operation(protection), context -> never(), any -> {}, recorded -> false);
        assertThat(outcome).isEqualTo(new OperationOutcome.Replayed(ANSWER));
        assertThat(kinds()).containsExactly(OutcomeKind.EXECUTED, OutcomeKind.REPLAYED, OutcomeKind.UNREADABLE);
    }

    @Test
    void recordedAnswerThatTheCallerCannotRead_begun_isUnreadable() {
        Idempotency idempotency = engine(database, store, reports::add);
        started(idempotency).finish(new WorkResult.Succeeded(ANSWER));
        idempotency.begin(operation(Protection.LEASED), recorded -> false);
        assertThat(kinds()).containsExactly(OutcomeKind.EXECUTED, OutcomeKind.UNREADABLE);
    }

    @Test
    void leasedWorkThatEndsElsewhere_isToldAboutAtItsEnd() {
        Idempotency idempotency = engine(database, store, reports::add);
        Operation operation = operation(Protection.LEASED);
        LeasedStart.Started started = (LeasedStart.Started) idempotency.begin(operation);
        assertThat(reports).isEmpty();
        idempotency.begin(operation);
        started.operation().finish(new WorkResult.Succeeded(ANSWER));
        idempotency.begin(operation);

        assertThat(kinds()).containsExactly(OutcomeKind.IN_PROGRESS, OutcomeKind.EXECUTED, OutcomeKind.REPLAYED);
    }

    @Test
    void troubleOfTheStore_hasKindsOfItsOwn() {
        InMemoryIdempotencyStore down = new InMemoryIdempotencyStore(database) {
            @Override
            public ClaimOutcome claim(Transaction transaction, ClaimRequest request) {
                throw new StoreUnavailableException("asked for by the test", null);
            }
        };
        engine(database, down, reports::add).operation("charge").key("order-1").tryExecute(tx -> never());
        engine(database.losingTheCommit(false), store, reports::add)
                .operation("charge")
                .key("order-1")
                .tryExecute(tx -> {});
        charge().tryExecute(tx -> tx.transaction().orElseThrow().setRollbackOnly());

        assertThat(kinds().get(0)).isEqualTo(OutcomeKind.STORE_UNAVAILABLE);
        assertThat(kinds().get(1)).isIn(OutcomeKind.UNKNOWN, OutcomeKind.NOT_COMMITTED);
        assertThat(kinds().get(2)).isEqualTo(OutcomeKind.NOT_COMMITTED);
    }

    @Test
    void shuttingDown_isToldToo() {
        GracefulShutdown shutdown = GracefulShutdown.ofDefaults();
        Idempotency idempotency = Idempotency.builder()
                .transactional(store, database)
                .shutdown(shutdown)
                .listener(reports::add)
                .build();
        shutdown.shutdown(new Reason("test")).toCompletableFuture().join();
        idempotency.operation("charge").key("order-1").tryExecute(tx -> never());

        assertThat(kinds()).containsExactly(OutcomeKind.SHUTTING_DOWN);
    }

    @Test
    void listenerFails_changesNothing() {
        for (OperationListener failing : List.<OperationListener>of(
                report -> {
                    throw new IllegalStateException("asked for by the test");
                },
                report -> {
                    throw new NoClassDefFoundError("asked for by the test");
                })) {
            Idempotency idempotency = engine(database, store, failing);
            String key = "key-" + failing.hashCode();
            assertThat(idempotency.operation("charge").key(key).execute(String.class, tx -> "done"))
                    .isEqualTo("done");
            assertThat(idempotency.operation("charge").key(key).execute(String.class, tx -> never()))
                    .isEqualTo("done");
            assertThatThrownBy(() -> idempotency.operation("other").key(key).execute(tx -> {
                        throw new IllegalStateException("declined");
                    }))
                    .hasMessage("declined");
        }
    }
}
