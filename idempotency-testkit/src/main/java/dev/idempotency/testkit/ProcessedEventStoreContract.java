package dev.idempotency.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.IdempotencyException;
import dev.idempotency.StoreConflictException;
import dev.idempotency.TransactionLostException;
import dev.idempotency.spi.Marks;
import dev.idempotency.spi.ProcessedEventStore;
import dev.idempotency.testkit.fault.Gate;
import dev.idempotency.transaction.OutcomeUnknownException;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionContext;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import dev.idempotency.transaction.TransactionWork;
import java.text.Normalizer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What every {@link ProcessedEventStore} must do; a store's test inherits it and says how to reach the store.
 *
 * <p>Effects are the contract's stand-in for business rows: the test adds one in the transaction of the marks and counts
 * them from outside.
 */
public abstract class ProcessedEventStoreContract {
    static final TransactionLimits LIMITS = TransactionLimits.ofDefaults();

    /** The consumer of most tests; registered, and another one in each test. */
    ConsumerId consumer = newConsumer();

    /** For subclasses. */
    protected ProcessedEventStoreContract() {}

    /**
     * Returns the store under test, the same one throughout a test.
     *
     * @return the store
     */
    protected abstract ProcessedEventStore store();

    /**
     * Returns a runner of transactions in the store's database, the same one throughout a test.
     *
     * @return the runner
     */
    protected abstract TransactionRunner runner();

    /**
     * Returns a runner whose next commit is followed by the loss of its answer.
     *
     * @param committed whether the commit arrives and is carried out; if not, it never arrives
     * @return a runner in the store's database, to be used once
     */
    protected abstract TransactionRunner runnerLosingTheCommit(boolean committed);

    /**
     * Runs something in a transaction that the library does not own, and ends it.
     *
     * @param commit whether to commit; else it is rolled back
     * @param work what to run
     */
    protected abstract void inCallersTransaction(boolean commit, Consumer<TransactionContext> work);

    /**
     * Writes a business row in the transaction.
     *
     * @param transaction the transaction of the marks
     * @param name what to write
     */
    protected abstract void addEffect(Transaction transaction, String name);

    /**
     * Counts the business rows that have been committed.
     *
     * @param name which
     * @return how many there are
     */
    protected abstract int countEffects(String name);

    /**
     * Does to the transaction what the death of its process would do: its connection is cut, the server rolls back.
     *
     * @param transaction the transaction of the marks
     */
    protected abstract void crash(Transaction transaction);

    /**
     * Lets time pass for every mark of the store, without sleeping.
     *
     * @param duration how long
     */
    protected abstract void passTime(Duration duration);

    /**
     * Returns how long a test waits before it fails.
     *
     * @return 60 s unless overridden, long enough for a busy machine
     */
    protected Duration deadline() {
        return Duration.ofSeconds(60);
    }

    @BeforeEach
    final void registerTheConsumer() {
        consumer = newConsumer();
        store().register(consumer);
    }

    private static ConsumerId newConsumer() {
        return ConsumerId.of("contract-" + UUID.randomUUID());
    }

    final <T extends @Nullable Object> T inTransaction(TransactionWork<T, RuntimeException> work) {
        return runner().run(LIMITS, work);
    }

    final Set<EventId> mark(ConsumerId marking, Collection<EventId> ids) {
        return inTransaction(transaction -> {
            Marks marks = store().mark(transaction, marking, ids);
            store().confirm(transaction, marks);
            return marks.fresh();
        });
    }

    final Set<EventId> mark(EventId... ids) {
        return mark(consumer, List.of(ids));
    }

    /** Asks without leaving anything. */
    final boolean isFresh(EventId id) {
        return inTransaction(transaction -> {
            transaction.setRollbackOnly();
            return store().mark(transaction, consumer, List.of(id)).fresh().contains(id);
        });
    }

    static EventId freshId() {
        return EventId.of(UUID.randomUUID());
    }

    /** Repeats what lost against a concurrent transaction, as an engine does. */
    final <T extends @Nullable Object> T repeatingConflicts(Task<T> task) {
        long end = System.nanoTime() + deadline().toNanos();
        while (true) {
            try {
                return task.run();
            } catch (StoreConflictException e) {
                if (System.nanoTime() > end) {
                    throw e;
                }
                Thread.onSpinWait();
            }
        }
    }

    /** What is repeated. */
    @FunctionalInterface
    interface Task<T extends @Nullable Object> {
        T run();
    }

    @Test
    void mark_freshId_isFreshOnce() {
        EventId id = freshId();

        assertThat(mark(id)).containsExactly(id);
        assertThat(mark(id)).isEmpty();
        assertThat(mark(id)).isEmpty();
    }

    @Test
    void mark_someKnownSomeNot_givesTheFreshOnes() {
        EventId known = freshId();
        EventId fresh = EventId.of("fresh " + UUID.randomUUID());
        mark(known);

        assertThat(mark(fresh, known)).containsExactly(fresh);
    }

    @Test
    void mark_nothing_isNothing() {
        assertThat(mark()).isEmpty();
    }

    @Test
    void mark_sameIdSeveralTimesInOneCall_isFreshOnce() {
        EventId id = freshId();

        assertThat(mark(id, id, freshId(), id)).hasSize(2).contains(id);
        assertThat(mark(id)).isEmpty();
    }

    @Test
    void mark_twiceInOneTransaction_isFreshTheFirstTime() {
        EventId id = freshId();

        boolean again = inTransaction(transaction -> {
            store().mark(transaction, consumer, List.of(id));
            return store().mark(transaction, consumer, List.of(id)).fresh().contains(id);
        });

        assertThat(again).isFalse();
    }

    @Test
    void mark_manyIdsOfAllForms_areAllKept() {
        List<EventId> ids = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            ids.add(i % 2 == 0 ? freshId() : EventId.of("order/" + UUID.randomUUID() + "/" + i));
        }
        Collections.shuffle(ids, new Random(1));

        assertThat(mark(consumer, ids)).containsExactlyInAnyOrderElementsOf(ids);
        assertThat(mark(consumer, ids)).isEmpty();
    }

    @Test
    void mark_whileAnotherHasMarkedAndNotCommitted_isFreshForOne() {
        EventId id = freshId();
        Gate marked = new Gate();
        try (Crew crew = new Crew(2, deadline())) {
            List<Boolean> fresh = crew.together(member -> {
                if (member == 0) {
                    return inTransaction(transaction -> {
                        boolean mine = store().mark(transaction, consumer, List.of(id))
                                .fresh()
                                .contains(id);
                        marked.pass();
                        return mine;
                    });
                }
                marked.awaitReached(deadline());
                boolean early = isFreshOrRefused(id);
                marked.open();
                return early;
            });
            assertThat(fresh).containsExactly(true, false);
        }
        assertThat(isFresh(id)).isFalse();
    }

    private boolean isFreshOrRefused(EventId id) {
        try {
            return !mark(id).isEmpty();
        } catch (StoreConflictException e) {
            return false;
        }
    }

    @Test
    void mark_rolledBack_leavesNothing() {
        EventId id = freshId();

        inTransaction(transaction -> {
            store().confirm(transaction, store().mark(transaction, consumer, List.of(id)));
            transaction.setRollbackOnly();
            return true;
        });

        assertThat(isFresh(id)).isTrue();
    }

    @Test
    void mark_workThrows_leavesNothing() {
        EventId id = freshId();

        assertThatThrownBy(() -> inTransaction(transaction -> {
                    store().mark(transaction, consumer, List.of(id));
                    throw new IllegalStateException("from the work");
                }))
                .hasMessage("from the work");

        assertThat(isFresh(id)).isTrue();
    }

    @Test
    void mark_processDies_leavesNothing() {
        EventId id = freshId();
        String effect = id.value();

        assertThatThrownBy(() -> inTransaction(transaction -> {
                    Marks marks = store().mark(transaction, consumer, List.of(id));
                    addEffect(transaction, effect);
                    crash(transaction);
                    store().confirm(transaction, marks);
                    return true;
                }))
                .isInstanceOf(IdempotencyException.class);

        assertThat(repeatingConflicts(() -> isFresh(id))).isTrue();
        assertThat(countEffects(effect)).isZero();
    }

    @Test
    void mark_commitArrivedAndItsAnswerDidNot_isKept() {
        EventId id = freshId();

        assertThatThrownBy(() -> markAndAddEffect(runnerLosingTheCommit(true), id))
                .isInstanceOf(OutcomeUnknownException.class);

        assertThat(repeatingConflicts(() -> markAndAddEffect(runner(), id))).isFalse();
        assertThat(countEffects(id.value())).isEqualTo(1);
    }

    @Test
    void mark_commitNeverArrived_isFreshAgain() {
        EventId id = freshId();

        assertThatThrownBy(() -> markAndAddEffect(runnerLosingTheCommit(false), id))
                .isInstanceOf(OutcomeUnknownException.class);

        assertThat(repeatingConflicts(() -> markAndAddEffect(runner(), id))).isTrue();
        assertThat(countEffects(id.value())).isEqualTo(1);
    }

    private boolean markAndAddEffect(TransactionRunner runner, EventId id) {
        return runner.<Boolean, RuntimeException>run(LIMITS, transaction -> {
            Marks marks = store().mark(transaction, consumer, List.of(id));
            marks.fresh().forEach(fresh -> addEffect(transaction, fresh.value()));
            store().confirm(transaction, marks);
            return !marks.fresh().isEmpty();
        });
    }

    @Test
    void mark_otherConsumer_isFresh() {
        ConsumerId other = ConsumerId.of(consumer.value() + " other");
        store().register(other);
        EventId id = freshId();
        mark(id);

        assertThat(mark(other, List.of(id))).containsExactly(id);
    }

    @Test
    void mark_consumerInOtherCase_isAnotherConsumer() {
        ConsumerId other = ConsumerId.of(consumer.value().toUpperCase(Locale.ROOT));
        store().register(other);
        EventId id = freshId();
        mark(id);

        assertThat(mark(other, List.of(id))).containsExactly(id);
    }

    @Test
    void mark_consumerWithTrailingSpace_isAnotherConsumer() {
        ConsumerId other = ConsumerId.of(consumer.value() + " ");
        store().register(other);
        EventId id = freshId();
        mark(id);

        assertThat(mark(other, List.of(id))).containsExactly(id);
    }

    @Test
    void mark_unregisteredConsumer_isRefused() {
        assertThatIllegalStateException()
                .isThrownBy(() -> mark(ConsumerId.of("nobody " + UUID.randomUUID()), List.of(freshId())));
    }

    @Test
    void register_manyAtOnceAndAgain_isOneConsumer() {
        ConsumerId popular = ConsumerId.of("popular " + UUID.randomUUID());
        EventId id = freshId();
        try (Crew crew = new Crew(4, deadline())) {
            crew.together(member -> {
                repeatingConflicts(() -> {
                    store().register(popular);
                    return true;
                });
                return true;
            });
            store().register(popular);
            List<Boolean> fresh = crew.together(member ->
                    repeatingConflicts(() -> !mark(popular, List.of(id)).isEmpty()));
            assertThat(fresh).containsOnlyOnce(true);
        }
    }

    @Test
    void mark_idsThatLookAlike_areDifferentEvents() {
        String longest = "x".repeat(EventId.MAX_BYTES - 1);
        String name = "Zoë " + UUID.randomUUID();
        List<EventId> ids = List.of(
                EventId.of("Order-1" + name),
                EventId.of("order-1" + name),
                EventId.of("order-1" + name + " "),
                EventId.of(" order-1" + name),
                EventId.of("order-1" + Normalizer.normalize(name, Normalizer.Form.NFD)),
                EventId.of("straße"),
                EventId.of("strasse"),
                EventId.of(longest + "a"),
                EventId.of(longest + "b"),
                EventId.of("1"),
                EventId.of("01"),
                EventId.of("1.0"));

        assertThat(mark(consumer, ids)).containsExactlyInAnyOrderElementsOf(ids);
        assertThat(mark(consumer, ids)).isEmpty();
    }

    @Test
    void mark_oneUuidInItsForms_isOneEvent() {
        UUID uuid = UUID.fromString("01890a5d-ac96-774b-bcce-b302099a8057");
        mark(EventId.of(uuid));

        assertThat(mark(EventId.of(uuid.toString().toUpperCase(Locale.ROOT)))).isEmpty();
        assertThat(mark(EventId.of(uuid.toString().replace("-", "")))).hasSize(1);
        assertThat(mark(EventId.of("{" + uuid + "}"))).hasSize(1);
    }

    @Test
    void confirm_sameTransaction_passes() {
        EventId id = freshId();

        inTransaction(transaction -> {
            Marks marks = store().mark(transaction, consumer, List.of(id));
            addEffect(transaction, id.value());
            store().confirm(transaction, marks);
            return true;
        });

        assertThat(countEffects(id.value())).isEqualTo(1);
    }

    @Test
    void confirm_marksOfAnEndedTransaction_isRefused() {
        EventId id = freshId();
        Marks marks = inTransaction(transaction -> store().mark(transaction, consumer, List.of(id)));

        assertThatThrownBy(() -> inTransaction(transaction -> {
                    addEffect(transaction, id.value());
                    store().confirm(transaction, marks);
                    return true;
                }))
                .isInstanceOf(TransactionLostException.class);

        assertThat(countEffects(id.value())).isZero();
    }

    @Test
    void confirm_noMarksOfAnEndedTransaction_isRefused() {
        String effect = freshId().value();
        Marks marks = inTransaction(transaction -> store().mark(transaction, consumer, List.of()));

        assertThatThrownBy(() -> inTransaction(transaction -> {
                    addEffect(transaction, effect);
                    store().confirm(transaction, marks);
                    return true;
                }))
                .isInstanceOf(TransactionLostException.class);

        assertThat(countEffects(effect)).isZero();
    }

    @Test
    void mark_callersTransactionCommitted_isKept() {
        EventId id = freshId();
        List<Marks> made = new ArrayList<>();

        inCallersTransaction(true, transaction -> made.add(store().mark(transaction, consumer, List.of(id, id))));

        assertThat(made.get(0).fresh()).containsExactly(id);
        assertThat(isFresh(id)).isFalse();
    }

    @Test
    void mark_callersTransactionRolledBack_leavesNothing() {
        EventId id = freshId();

        inCallersTransaction(false, transaction -> store().mark(transaction, consumer, List.of(id)));

        assertThat(isFresh(id)).isTrue();
    }

    @Test
    void mark_emptyInCallersTransaction_isNothing() {
        inCallersTransaction(
                true,
                transaction -> assertThat(
                                store().mark(transaction, consumer, List.of()).fresh())
                        .isEmpty());
    }

    @Test
    void deleteMarks_takesTheOldOnly() {
        EventId old = freshId();
        EventId young = freshId();
        mark(old);
        passTime(Duration.ofHours(2));
        mark(young);

        assertThat(store().deleteMarks(Duration.ofHours(1), 100)).isEqualTo(1);
        assertThat(isFresh(old)).isTrue();
        assertThat(isFresh(young)).isFalse();
    }

    @Test
    void deleteMarks_moreThanTheLimit_takesTheLimit() {
        mark(consumer, IntStream.range(0, 700).mapToObj(i -> freshId()).toList());
        passTime(Duration.ofHours(2));

        int first = store().deleteMarks(Duration.ofHours(1), 300);
        int second = store().deleteMarks(Duration.ofHours(1), 300);
        int third = store().deleteMarks(Duration.ofHours(1), 300);

        assertThat(List.of(first, second, third)).containsExactly(300, 300, 100);
    }

    @Test
    void deleteMarks_badArguments_areRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> store().deleteMarks(Duration.ofSeconds(59), 100))
                .withMessageContaining("age");
        assertThatIllegalArgumentException().isThrownBy(() -> store().deleteMarks(Duration.ofHours(1), 0));
        assertThatIllegalArgumentException().isThrownBy(() -> store().deleteMarks(Duration.ofHours(1), 100_001));
    }

    /** Overlapping batches in different orders, with failures in between: every event takes effect once. */
    @Test
    void race_overlappingBatches_eachEventTakesEffectOnce() {
        long seed = TestSize.seed("race_overlappingBatches_eachEventTakesEffectOnce");
        int rounds = TestSize.rounds(12);
        try (Crew crew = new Crew(4, deadline())) {
            for (int round = 0; round < rounds; round++) {
                List<EventId> ids =
                        IntStream.range(0, 20).mapToObj(i -> freshId()).toList();
                long roundSeed = seed + round;
                crew.together(member -> {
                    Random random = new Random(roundSeed * 31 + member);
                    List<EventId> shuffled = new ArrayList<>(ids);
                    Collections.shuffle(shuffled, random);
                    if (random.nextBoolean()) {
                        handle(shuffled.subList(0, 10), true);
                    }
                    handle(shuffled.subList(0, 10), false);
                    handle(shuffled.subList(10, 20), false);
                    return true;
                });
                for (EventId id : ids) {
                    assertThat(countEffects(id.value()))
                            .as("effects of %s, seed %s", id, seed)
                            .isEqualTo(1);
                }
            }
        }
    }

    private void handle(List<EventId> ids, boolean rollBack) {
        repeatingConflicts(() -> inTransaction(transaction -> {
            Marks marks = store().mark(transaction, consumer, ids);
            new HashSet<>(marks.fresh()).forEach(id -> addEffect(transaction, id.value()));
            store().confirm(transaction, marks);
            if (rollBack) {
                transaction.setRollbackOnly();
            }
            return true;
        }));
    }
}
