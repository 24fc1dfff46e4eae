package dev.idempotency.testkit.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.idempotency.Caller;
import dev.idempotency.Fingerprint;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.KeyedOperation;
import dev.idempotency.Operation;
import dev.idempotency.OperationOutcome;
import dev.idempotency.Protection;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult.Replayable;
import dev.idempotency.Scope;
import dev.idempotency.StoreUnavailableException;
import dev.idempotency.WorkResult;
import dev.idempotency.operation.KeyReusedException;
import dev.idempotency.operation.OperationAbandonedException;
import dev.idempotency.operation.OperationInProgressException;
import dev.idempotency.operation.OperationNotCommittedException;
import dev.idempotency.operation.OperationUnknownException;
import dev.idempotency.operation.ResultCodec;
import dev.idempotency.operation.ResultCodecs;
import dev.idempotency.operation.ResultNotEncodedException;
import dev.idempotency.operation.ResultUnavailableException;
import dev.idempotency.operation.ResultUnreadableException;
import dev.idempotency.operation.TransactionalContext;
import dev.idempotency.operation.TypedOutcome;
import dev.idempotency.operation.TypedWork;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionRunner;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TypedOperationTest {
    private static final byte[] ONE_EURO = bytes("amount=1");
    private static final byte[] TWO_EUROS = bytes("amount=2");
    private static final ResultCodec<Receipt> RECEIPTS =
            ResultCodec.of("receipt-1", receipt -> bytes(receipt.number()), number -> new Receipt(text(number)));

    private final InMemoryDatabase database = InMemoryDatabase.create();
    private final InMemoryIdempotencyStore store = InMemoryIdempotencyStore.of(database);
    private final Idempotency idempotency = engine(database, store);
    private final List<String> effects = new ArrayList<>();
    private final AtomicInteger runs = new AtomicInteger();

    record Receipt(String number) {}

    /** Checked, to see that it passes untouched. */
    private static final class DeclinedException extends Exception {
        private static final long serialVersionUID = 1L;
    }

    private static Idempotency engine(TransactionRunner runner, InMemoryIdempotencyStore store) {
        return Idempotency.builder()
                .transactional(store, runner)
                .leased(store)
                .codecs(ResultCodecs.ofDefaults().with(Receipt.class, RECEIPTS))
                .build();
    }

    @AfterEach
    void close() {
        idempotency.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private KeyedOperation<TransactionalContext> charge() {
        return idempotency.operation("charge").key("order-1").fingerprint(ONE_EURO);
    }

    private Receipt charged(TransactionalContext tx) {
        Receipt receipt = new Receipt("receipt of run " + runs.incrementAndGet());
        tx.unwrap(InMemoryTransaction.class).write(() -> effects.add(receipt.number()));
        return receipt;
    }

    private <C extends IdempotencyContext, T extends @Nullable Object> TypedWork<C, T, RuntimeException> never() {
        return context -> {
            throw new AssertionError("The work ran again");
        };
    }

    @Test
    void execute_repeat_getsTheFirstResultAndOneEffect() {
        Receipt first = charge().execute(Receipt.class, this::charged);
        Receipt repeat = charge().execute(Receipt.class, never());

        assertThat(repeat).isEqualTo(first).isNotSameAs(first);
        assertThat(effects).containsExactly(first.number());
    }

    @Test
    void tryExecute_firstAndRepeat_areToldApart() {
        TypedOutcome<Receipt> first = charge().tryExecute(Receipt.class, this::charged);
        TypedOutcome<Receipt> repeat = charge().tryExecute(Receipt.class, never());

        assertThat(first).isEqualTo(new TypedOutcome.Executed<>(new Receipt("receipt of run 1")));
        assertThat(repeat).isEqualTo(new TypedOutcome.Replayed<>(new Receipt("receipt of run 1")));
        assertThat(first.toString() + repeat).as("texts for logs").doesNotContain("receipt of run");
    }

    @Test
    void execute_otherFingerprint_isRefused() {
        charge().execute(Receipt.class, this::charged);

        assertThatThrownBy(() -> charge().fingerprint(TWO_EUROS).execute(Receipt.class, never()))
                .isInstanceOf(KeyReusedException.class);
    }

    @Test
    void execute_otherNameTenantOrCaller_isAnotherOperation() {
        charge().execute(Receipt.class, this::charged);
        idempotency.operation("refund").key("order-1").execute(Receipt.class, this::charged);
        idempotency.operation("charge").tenant("north").key("order-1").execute(Receipt.class, this::charged);
        idempotency
                .operation("charge")
                .caller(new Caller.Principal("ann"))
                .key("order-1")
                .execute(Receipt.class, this::charged);

        assertThat(effects).hasSize(4);
    }

    @Test
    void execute_whileAnotherAttemptRuns_isToldWhenToComeBack() throws InterruptedException {
        CountDownLatch asked = new CountDownLatch(1);
        OperationInProgressException[] told = new OperationInProgressException[1];
        charge().execute(tx -> {
            Thread duplicate = new Thread(() -> {
                told[0] = catchThrowableOfType(
                        OperationInProgressException.class, () -> charge().execute(Receipt.class, never()));
                asked.countDown();
            });
            duplicate.start();
            asked.await();
        });

        assertThat(told[0].retryAfter()).isPositive();
        assertThat(told[0].isRetryable()).isTrue();
    }

    @Test
    @SuppressWarnings("NullAway") // null as a result, in a lambda
    void execute_nullVoidAndNoRecord_areThreeThings() {
        KeyedOperation<TransactionalContext> nothingFound =
                idempotency.operation("find").key("nothing-found");
        KeyedOperation<TransactionalContext> withoutResult =
                idempotency.operation("find").key("without-result");

        assertThat(nothingFound.<@Nullable Receipt, RuntimeException>tryExecute(Receipt.class, tx -> null))
                .isEqualTo(new TypedOutcome.Executed<>(null));
        assertThat(nothingFound.<@Nullable Receipt, RuntimeException>tryExecute(Receipt.class, never()))
                .isEqualTo(new TypedOutcome.Replayed<>(null));
        withoutResult.execute(tx -> {
            runs.incrementAndGet();
        });
        withoutResult.execute(tx -> {
            runs.incrementAndGet();
        });
        assertThat(runs).hasValue(1);
        assertThat(withoutResult.tryExecute(Void.class, never())).isEqualTo(new TypedOutcome.Replayed<>(null));

        assertThat(withoutResult.tryExecute(Receipt.class, never()))
                .as("work without a result has no null to give")
                .isInstanceOf(TypedOutcome.Unreadable.class);
        assertThat(nothingFound.tryExecute(Void.class, never())).isInstanceOf(TypedOutcome.Unreadable.class);
    }

    @Test
    void execute_textAndBytes_comeBackAsTheyWere() {
        byte[] given = {0, -1, 7};
        idempotency.operation("bytes").key("key").execute(byte[].class, tx -> given);
        given[0] = 9;
        byte[] repeat = idempotency.operation("bytes").key("key").execute(byte[].class, never());
        idempotency.operation("text").key("key").execute(String.class, tx -> "grün \uD83D\uDE80");

        assertThat(repeat).containsExactly(0, -1, 7);
        assertThat(idempotency.operation("text").key("key").execute(String.class, never()))
                .isEqualTo("grün \uD83D\uDE80");
    }

    @Test
    void execute_olderFormat_isReadByACodecThatSaysSo() {
        charge().execute(Receipt.class, this::charged);
        ResultCodec<String> newer = ResultCodec.of("receipt-2", TypedOperationTest::bytes, TypedOperationTest::text);

        ResultUnreadableException failure =
                catchThrowableOfType(ResultUnreadableException.class, () -> charge().execute(newer, never()));
        assertThat(failure.format()).isEqualTo("receipt-1");
        assertThat(failure.isRetryable()).isFalse();
        assertThat(charge().execute(newer.alsoReading("receipt-1", old -> "old " + text(old)), never()))
                .isEqualTo("old receipt of run 1");
        assertThat(effects).hasSize(1);
    }

    @Test
    void execute_decoderFails_isReportedAndTheWorkDoesNotRun() {
        charge().execute(Receipt.class, this::charged);
        List<ResultCodec<Receipt>> broken = List.of(
                ResultCodec.of("receipt-1", receipt -> new byte[0], text -> {
                    throw new IOException("field missing");
                }),
                ResultCodec.of("receipt-1", receipt -> new byte[0], text -> {
                    throw new IllegalStateException("field missing");
                }));

        for (ResultCodec<Receipt> codec : broken) {
            TypedOutcome<Receipt> outcome = charge().tryExecute(codec, never());
            assertThat(outcome).isInstanceOf(TypedOutcome.Unreadable.class);
            assertThatThrownBy(outcome::orThrow)
                    .isInstanceOf(ResultUnreadableException.class)
                    .hasRootCauseMessage("field missing");
        }
        assertThat(charge().execute(Receipt.class, never())).as("unharmed").isEqualTo(new Receipt("receipt of run 1"));
    }

    @Test
    void execute_recordOfAnUntypedOperation_isUnreadable() {
        Operation untyped = Operation.of(
                new RecordId(Scope.shared("charge"), IdempotencyKey.of("order-1")),
                Fingerprint.none(),
                Protection.TRANSACTIONAL);
        idempotency.execute(
                untyped, context -> new WorkResult.Succeeded(new Replayable(201, bytes("Location: /1"), bytes("{}"))));

        ResultUnreadableException failure =
                catchThrowableOfType(ResultUnreadableException.class, () -> charge().execute(Receipt.class, never()));
        assertThat(failure.format()).isEmpty();
    }

    @Test
    void execute_workThrowsAChecked_passesUntouchedAndTheKeyIsFree() {
        DeclinedException declined = new DeclinedException();

        assertThatThrownBy(() -> charge().execute(Receipt.class, tx -> {
                    charged(tx);
                    throw declined;
                }))
                .isSameAs(declined);
        assertThat(effects).isEmpty();
        assertThat(charge().execute(Receipt.class, this::charged)).isEqualTo(new Receipt("receipt of run 2"));
    }

    @Test
    void execute_resultCannotBeEncoded_nothingOfItIsLeft() {
        ResultNotEncodedException failure = catchThrowableOfType(
                ResultNotEncodedException.class,
                () -> charge().execute(String.class, tx -> charged(tx).number() + "\uD83D"));

        assertThat(failure).hasCauseInstanceOf(IOException.class);
        assertThat(effects).isEmpty();
        assertThat(charge().execute(Receipt.class, this::charged)).isNotNull();
    }

    @Test
    void execute_resultTooLarge_nothingOfItIsLeft() {
        assertThatThrownBy(() -> charge().execute(byte[].class, tx -> new byte[ResultCodec.MAX_SIZE + 1]))
                .isInstanceOf(ResultNotEncodedException.class)
                .rootCause()
                .hasMessageContaining("at most");
    }

    @Test
    void execute_typeWithoutCodec_isRefusedBeforeAnythingRuns() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> charge().execute(Integer.class, never()))
                .withMessageContaining("Integer")
                .withMessageContaining("codecs(");
        assertThat(store.entries).isEmpty();
    }

    @Test
    void execute_conflicts_runTheWorkAgainABoundedNumberOfTimes() throws SQLException {
        Receipt receipt = charge().execute(Receipt.class, tx -> {
            Receipt attempt = charged(tx);
            if (runs.get() < 3) {
                throw new SQLException("lost the race", runs.get() == 1 ? "40001" : "40P01");
            }
            return attempt;
        });

        assertThat(receipt).isEqualTo(new Receipt("receipt of run 3"));
        assertThat(effects).containsExactly("receipt of run 3");
        assertThat(charge().execute(Receipt.class, never())).isEqualTo(receipt);
    }

    @Test
    void execute_conflictsForEver_areNotCommitted() {
        assertThatThrownBy(() -> charge().execute(Receipt.class, tx -> {
                    charged(tx);
                    throw new SQLException("lost the race", "40001");
                }))
                .isInstanceOf(OperationNotCommittedException.class)
                .hasRootCauseMessage("lost the race");
        assertThat(runs.get()).isBetween(2, 20);
        assertThat(effects).isEmpty();
    }

    @Test
    void execute_workRollsBackItself_isNotCommitted() {
        assertThatThrownBy(() -> charge().execute(Receipt.class, tx -> {
                    tx.transaction().orElseThrow().setRollbackOnly();
                    return charged(tx);
                }))
                .isInstanceOf(OperationNotCommittedException.class);
        assertThat(effects).isEmpty();
    }

    @Test
    void execute_storeDown_saysSoAndRunsNothing() {
        InMemoryIdempotencyStore down = new InMemoryIdempotencyStore(database) {
            @Override
            public ClaimOutcome claim(Transaction transaction, ClaimRequest request) {
                throw new StoreUnavailableException("asked for by the test", null);
            }
        };

        assertThatThrownBy(() -> engine(database, down)
                        .operation("charge")
                        .key("order-1")
                        .execute(Receipt.class, never()))
                .isInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void execute_commitUnknown_givesTheResultThatTheRecordProves() {
        Receipt receipt = engine(database.losingTheCommit(true), store)
                .operation("charge")
                .key("order-1")
                .fingerprint(ONE_EURO)
                .execute(Receipt.class, this::charged);

        assertThat(receipt).isEqualTo(new Receipt("receipt of run 1"));
        assertThat(charge().execute(Receipt.class, never())).isEqualTo(receipt);
    }

    @Test
    void leased_repeat_getsTheFirstResult() {
        KeyedOperation<IdempotencyContext> leased = charge().leased();

        Receipt first = leased.execute(Receipt.class, context -> {
            assertThat(context.transaction()).isEmpty();
            assertThat(context.isLeaseValid()).isTrue();
            return new Receipt("receipt of run " + runs.incrementAndGet());
        });

        assertThat(leased.execute(Receipt.class, never())).isEqualTo(first);
    }

    @Test
    void leased_workThrows_resultIsUnavailableUnlessNothingHappened() throws DeclinedException {
        KeyedOperation<IdempotencyContext> inDoubt = charge().leased();
        assertThatThrownBy(() -> inDoubt.execute(context -> {
                    throw new DeclinedException();
                }))
                .isInstanceOf(DeclinedException.class);
        assertThatThrownBy(() -> inDoubt.execute(Receipt.class, never()))
                .isInstanceOf(ResultUnavailableException.class);

        KeyedOperation<IdempotencyContext> free =
                idempotency.operation("charge").key("order-2").leased();
        assertThatThrownBy(() -> free.execute(context -> {
                    context.markNoEffect();
                    throw new DeclinedException();
                }))
                .isInstanceOf(DeclinedException.class);
        assertThat(free.execute(Receipt.class, context -> new Receipt("second")))
                .isEqualTo(new Receipt("second"));
    }

    @Test
    void leased_resultCannotBeEncoded_keyIsSpent() {
        KeyedOperation<IdempotencyContext> leased = charge().leased();

        assertThatThrownBy(() -> leased.execute(String.class, context -> "\uD83D"))
                .isInstanceOf(ResultNotEncodedException.class);
        assertThatThrownBy(() -> leased.execute(String.class, never())).isInstanceOf(ResultUnavailableException.class);
    }

    @Test
    void leased_ownerVanished_isReportedOrRunAgainAsAsked() {
        ClaimRequest vanished = new ClaimRequest(
                new RecordId(Scope.shared("charge"), IdempotencyKey.of("order-1")),
                Fingerprint.none(),
                Duration.ofHours(24),
                AbandonedPolicy.REPORT_UNKNOWN);
        store.claim(vanished, Duration.ofSeconds(30));
        KeyedOperation<IdempotencyContext> leased = charge().leased();
        assertThatThrownBy(() -> leased.execute(Receipt.class, never()))
                .isInstanceOf(OperationInProgressException.class);

        database.passTime(Duration.ofMinutes(1));

        assertThatThrownBy(() -> leased.execute(Receipt.class, never()))
                .isInstanceOf(OperationAbandonedException.class);
        assertThat(leased.abandoned(AbandonedPolicy.RUN_AGAIN)
                        .execute(Receipt.class, context -> new Receipt("attempt " + context.attempt())))
                .isEqualTo(new Receipt("attempt 2"));
    }

    @Test
    void leased_claimLostWhileItRan_isUnknown() {
        KeyedOperation<IdempotencyContext> leased = charge().leased();

        OperationUnknownException failure = catchThrowableOfType(
                OperationUnknownException.class,
                () -> leased.execute(Receipt.class, context -> {
                    database.passTime(Duration.ofHours(2));
                    Receipt successor = leased.abandoned(AbandonedPolicy.RUN_AGAIN)
                            .execute(Receipt.class, later -> new Receipt("successor"));
                    assertThat(successor).isEqualTo(new Receipt("successor"));
                    return new Receipt("too late");
                }));

        assertThat(failure.isRetryable()).isTrue();
        assertThat(leased.execute(Receipt.class, never())).isEqualTo(new Receipt("successor"));
    }

    @Test
    void withoutResult_outcomeWithOne_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new TypedOutcome.WithoutResult<>(
                        new OperationOutcome.Replayed(new Replayable(0, new byte[0], new byte[0]))));
    }

    @Test
    void codecs_formatOrTypeTwice_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RECEIPTS.alsoReading("receipt-1", text -> new Receipt("")));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ResultCodecs.ofDefaults().with(String.class, ResultCodec.ofString()));
        for (String name : List.of("", "two words", "void", "ü", "x".repeat(65))) {
            assertThatIllegalArgumentException()
                    .as(name)
                    .isThrownBy(() -> ResultCodec.of(name, TypedOperationTest::bytes, TypedOperationTest::text));
        }
    }
}
