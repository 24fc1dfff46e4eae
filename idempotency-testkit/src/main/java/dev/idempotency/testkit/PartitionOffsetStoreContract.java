package dev.idempotency.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.ConsumerId;
import dev.idempotency.StoreConflictException;
import dev.idempotency.TransactionLostException;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.Marks;
import dev.idempotency.spi.OffsetAdvance;
import dev.idempotency.spi.PartitionAssignment;
import dev.idempotency.spi.PartitionOffsetStore;
import dev.idempotency.testkit.fault.Gate;
import dev.idempotency.transaction.OutcomeUnknownException;
import dev.idempotency.transaction.TransactionRunner;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What every {@link PartitionOffsetStore} must do; a store's test inherits it and says how to reach the store. */
public abstract class PartitionOffsetStoreContract extends ProcessedEventStoreContract {
    private final EventPartition partition = new EventPartition("orders", UUID.randomUUID(), 0);

    /** For subclasses. */
    protected PartitionOffsetStoreContract() {}

    @Override
    protected abstract PartitionOffsetStore store();

    private PartitionAssignment assign(EventPartition taken) {
        return repeatingConflicts(
                () -> store().assign(consumer, List.of(taken), "owner").get(0));
    }

    /** One transaction of an owner: its effect and its step; returns what is fenced. */
    private Set<EventPartition> step(TransactionRunner runner, String effect, OffsetAdvance... advances) {
        return runner.<Set<EventPartition>, RuntimeException>run(LIMITS, transaction -> {
            Marks marks = store().mark(transaction, consumer, List.of());
            addEffect(transaction, effect);
            Set<EventPartition> fenced = store().advance(transaction, marks, consumer, List.of(advances));
            if (!fenced.isEmpty()) {
                transaction.setRollbackOnly();
            }
            return fenced;
        });
    }

    private Set<EventPartition> step(String effect, OffsetAdvance... advances) {
        return step(runner(), effect, advances);
    }

    private static OffsetAdvance advance(PartitionAssignment owned, @Nullable Long from, long to) {
        return new OffsetAdvance(owned.partition(), owned.epoch(), from, to);
    }

    @Test
    void assign_first_hasNoOffset() {
        PartitionAssignment first = assign(partition);

        assertThat(first.nextOffset()).isNull();
        assertThat(first.partition()).isEqualTo(partition);
    }

    @Test
    void assign_again_beginsAGreaterEpoch() {
        PartitionAssignment first = assign(partition);
        PartitionAssignment second = assign(partition);

        assertThat(second.epoch()).isGreaterThan(first.epoch());
        assertThat(second.nextOffset()).isNull();
    }

    @Test
    void assign_severalPartitions_givesOneEach() {
        List<EventPartition> three = List.of(
                new EventPartition("orders", partition.topicId(), 2),
                partition,
                new EventPartition("payments", UUID.randomUUID(), 0));

        List<PartitionAssignment> assignments = store().assign(consumer, three, "owner".repeat(100));

        assertThat(assignments).extracting(PartitionAssignment::partition).containsExactlyInAnyOrderElementsOf(three);
    }

    @Test
    void assign_none_givesNone() {
        assertThat(store().assign(consumer, List.of(), "owner")).isEmpty();
    }

    @Test
    void advance_committed_isWhereTheNextOwnerGoesOn() {
        PartitionAssignment owned = assign(partition);

        assertThat(step("first", advance(owned, null, 5))).isEmpty();
        assertThat(step("second", advance(owned, 5L, 9))).isEmpty();

        assertThat(assign(partition).nextOffset()).isEqualTo(9);
    }

    @Test
    void advance_beyondThirtyTwoBits_isKept() {
        PartitionAssignment owned = assign(partition);

        assertThat(step("far", advance(owned, null, 5_000_000_000L))).isEmpty();

        assertThat(assign(partition).nextOffset()).isEqualTo(5_000_000_000L);
    }

    @Test
    void advance_rolledBack_leavesNothing() {
        PartitionAssignment owned = assign(partition);

        inTransaction(transaction -> {
            Marks marks = store().mark(transaction, consumer, List.of());
            store().advance(transaction, marks, consumer, List.of(advance(owned, null, 5)));
            transaction.setRollbackOnly();
            return true;
        });

        assertThat(assign(partition).nextOffset()).isNull();
    }

    @Test
    void advance_oldEpoch_isFenced() {
        PartitionAssignment zombie = assign(partition);
        String effect = "zombie " + UUID.randomUUID();
        assign(partition);

        assertThat(step(effect, advance(zombie, null, 5))).containsExactly(partition);

        assertThat(countEffects(effect)).isZero();
        assertThat(assign(partition).nextOffset()).isNull();
    }

    @Test
    void advance_fromWhereTheOffsetIsNot_isFenced() {
        PartitionAssignment owned = assign(partition);
        step("first", advance(owned, null, 5));

        assertThat(step("none expected", advance(owned, null, 9))).containsExactly(partition);
        assertThat(step("less expected", advance(owned, 4L, 9))).containsExactly(partition);
        assertThat(step("more expected", advance(owned, 6L, 9))).containsExactly(partition);

        assertThat(assign(partition).nextOffset()).isEqualTo(5);
    }

    @Test
    void advance_neverAssigned_isFenced() {
        assertThat(step("nobody", new OffsetAdvance(partition, 1, null, 5))).containsExactly(partition);
    }

    @Test
    void advance_oneOfSeveralFenced_namesThatOne() {
        EventPartition other = new EventPartition("orders", partition.topicId(), 1);
        PartitionAssignment zombie = assign(partition);
        PartitionAssignment owned = assign(other);
        assign(partition);

        assertThat(step("both", advance(zombie, null, 5), advance(owned, null, 7)))
                .containsExactly(partition);

        assertThat(assign(other).nextOffset()).as("rolled back as a whole").isNull();
    }

    @Test
    void advance_otherConsumer_standsApart() {
        ConsumerId other = ConsumerId.of(consumer.value() + " other");
        store().register(other);
        step("first", advance(assign(partition), null, 5));

        assertThat(store().assign(other, List.of(partition), "owner").get(0).nextOffset())
                .isNull();
    }

    @Test
    void advance_topicCreatedAgain_standsApart() {
        step("first", advance(assign(partition), null, 5));

        assertThat(assign(new EventPartition("orders", UUID.randomUUID(), 0)).nextOffset())
                .isNull();
    }

    @Test
    void advance_marksOfAnEndedTransaction_isRefused() {
        PartitionAssignment owned = assign(partition);
        String effect = "ended " + UUID.randomUUID();
        Marks marks = inTransaction(transaction -> store().mark(transaction, consumer, List.of()));

        assertThatThrownBy(() -> inTransaction(transaction -> {
                    addEffect(transaction, effect);
                    store().advance(transaction, marks, consumer, List.of(advance(owned, null, 5)));
                    return true;
                }))
                .isInstanceOf(TransactionLostException.class);

        assertThat(countEffects(effect)).isZero();
        assertThat(assign(partition).nextOffset()).isNull();
    }

    @Test
    void assign_formerOwnerHasAdvancedAndNotCommitted_waitsForItOrRefuses() {
        PartitionAssignment zombie = assign(partition);
        Gate advanced = new Gate();
        try (Crew crew = new Crew(2, deadline())) {
            List<Object> seen = crew.<Object>together(member -> {
                if (member == 0) {
                    return inTransaction(transaction -> {
                        Marks marks = store().mark(transaction, consumer, List.of());
                        Set<EventPartition> fenced =
                                store().advance(transaction, marks, consumer, List.of(advance(zombie, null, 5)));
                        advanced.pass();
                        return fenced;
                    });
                }
                advanced.awaitReached(deadline());
                Object early = assignOnce();
                advanced.open();
                return early instanceof StoreConflictException ? "refused" : early;
            });
            assertThat(seen.get(0)).isEqualTo(Set.of());
            assertThat(seen.get(1)).as("taken over under an open transaction").isEqualTo("refused");
        }
        assertThat(assign(partition).nextOffset()).isEqualTo(5);
    }

    private Object assignOnce() {
        try {
            return store().assign(consumer, List.of(partition), "owner").get(0);
        } catch (StoreConflictException e) {
            return e;
        }
    }

    /** The counter-schedule of the rule that an epoch alone does not do. */
    @Test
    void advance_repeatedAfterAnUnknownCommit_takesEffectOnce() {
        PartitionAssignment owned = assign(partition);
        String effect = "unknown " + UUID.randomUUID();
        OffsetAdvance batch = advance(owned, null, 5);

        assertThatThrownBy(() -> step(runnerLosingTheCommit(true), effect, batch))
                .isInstanceOf(OutcomeUnknownException.class);
        Set<EventPartition> fenced = repeatingConflicts(() -> step(effect, batch));

        assertThat(fenced).containsExactly(partition);
        assertThat(countEffects(effect)).isEqualTo(1);
    }

    @Test
    void advance_repeatedAfterACommitThatNeverArrived_takesEffectOnce() {
        PartitionAssignment owned = assign(partition);
        String effect = "lost " + UUID.randomUUID();
        OffsetAdvance batch = advance(owned, null, 5);

        assertThatThrownBy(() -> step(runnerLosingTheCommit(false), effect, batch))
                .isInstanceOf(OutcomeUnknownException.class);
        Set<EventPartition> fenced = repeatingConflicts(() -> step(effect, batch));

        assertThat(fenced).isEmpty();
        assertThat(countEffects(effect)).isEqualTo(1);
    }

    /** Owners that all believe the partition to be theirs: every record takes effect once, in order, without a gap. */
    @Test
    void race_owners_eachRecordTakesEffectOnce() {
        long seed = TestSize.seed("race_owners_eachRecordTakesEffectOnce");
        int records = TestSize.rounds(40);
        try (Crew crew = new Crew(3, deadline())) {
            crew.together(member -> {
                Random random = new Random(seed + member);
                PartitionAssignment owned = assign(partition);
                Long next = owned.nextOffset();
                while (next == null || next < records) {
                    OffsetAdvance batch = advance(owned, next, (next == null ? 0 : next) + 1);
                    boolean lost = loses(random);
                    boolean advanced = !lost
                            && repeatingConflicts(() -> step(effect(batch), batch))
                                    .isEmpty();
                    if (lost) {
                        loseTheCommit(random, batch);
                    }
                    if (advanced) {
                        next = batch.to();
                    } else {
                        owned = assign(partition);
                        next = owned.nextOffset();
                    }
                }
                return true;
            });
            for (int offset = 0; offset < records; offset++) {
                assertThat(countEffects(partition.topicId() + "@" + offset))
                        .as("effects of the record at %s, seed %s", offset, seed)
                        .isEqualTo(1);
            }
        }
    }

    private static boolean loses(Random random) {
        return random.nextInt(5) == 0;
    }

    private String effect(OffsetAdvance batch) {
        return partition.topicId() + "@" + (batch.to() - 1);
    }

    private void loseTheCommit(Random random, OffsetAdvance batch) {
        try {
            step(runnerLosingTheCommit(random.nextBoolean()), effect(batch), batch);
        } catch (OutcomeUnknownException | StoreConflictException e) {
            assertThat(e).isNotNull();
        }
    }
}
