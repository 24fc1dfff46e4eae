package dev.idempotency.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.Marks;
import dev.idempotency.spi.OffsetAdvance;
import dev.idempotency.spi.PartitionAssignment;
import dev.idempotency.spi.StartedAttemptStore;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What every {@link StartedAttemptStore} must do; a store's test inherits it and says how to reach the store. */
public abstract class StartedAttemptStoreContract extends PartitionOffsetStoreContract {
    private final EventPartition partition = new EventPartition("orders", UUID.randomUUID(), 0);

    /** For subclasses. */
    protected StartedAttemptStoreContract() {}

    @Override
    protected abstract StartedAttemptStore store();

    private PartitionAssignment assign() {
        return repeatingConflicts(
                () -> store().assign(consumer, List.of(partition), "owner").get(0));
    }

    private void advance(PartitionAssignment owned, @Nullable Long from, long to) {
        Set<EventPartition> fenced = inTransaction(transaction -> {
            Marks marks = store().mark(transaction, consumer, List.of());
            return store().advance(
                            transaction,
                            marks,
                            consumer,
                            List.of(new OffsetAdvance(partition, owned.epoch(), from, to)));
        });
        assertThat(fenced).isEmpty();
    }

    @Test
    void assign_first_isNotSuspect() {
        assertThat(assign().suspect()).isFalse();
    }

    @Test
    void assign_afterAnOwnerWhoAdvancedNothing_isSuspectUntilTheNextAdvance() {
        assign();

        PartitionAssignment second = assign();
        assertThat(second.suspect()).isTrue();

        advance(second, null, 5);
        assertThat(assign().suspect()).isFalse();
    }

    @Test
    void start_underEachAssignment_countsOnce() {
        assertThat(store().start(consumer, assign(), 7)).hasValue(1);
        PartitionAssignment second = assign();
        assertThat(store().start(consumer, second, 7)).hasValue(2);
        assertThat(store().start(consumer, second, 7))
                .as("the same process again")
                .hasValue(2);
        assertThat(store().start(consumer, assign(), 7)).hasValue(3);
    }

    @Test
    void start_anotherEvent_countsAnew() {
        store().start(consumer, assign(), 7);

        assertThat(store().start(consumer, assign(), 8)).hasValue(1);
    }

    @Test
    void start_endedAssignment_isRefusedAndNotCounted() {
        PartitionAssignment zombie = assign();
        PartitionAssignment owned = assign();

        assertThat(store().start(consumer, zombie, 7)).isEmpty();

        assertThat(store().start(consumer, owned, 7)).hasValue(1);
    }

    @Test
    void settle_forgetsTheStarts() {
        PartitionAssignment owned = assign();
        store().start(consumer, owned, 7);

        store().settle(consumer, owned, 7);

        PartitionAssignment next = assign();
        assertThat(store().start(consumer, next, 7)).hasValue(1);
        assertThat(store().start(consumer, next, 7)).hasValue(1);
        assertThat(store().start(consumer, assign(), 7)).hasValue(2);
    }

    @Test
    void settle_endedAssignmentOrOtherEvent_changesNothing() {
        PartitionAssignment zombie = assign();
        store().start(consumer, zombie, 7);
        PartitionAssignment owned = assign();

        store().settle(consumer, zombie, 7);
        store().settle(consumer, owned, 8);

        assertThat(store().start(consumer, owned, 7)).hasValue(2);
    }

    /** The event died of stands where its predecessor has advanced the partition to. */
    @Test
    void assign_afterAStartWithoutOutcomeAtTheHead_isSuspect() {
        PartitionAssignment owned = assign();
        advance(owned, null, 5);
        store().start(consumer, owned, 6);

        assertThat(assign().suspect()).isTrue();
    }

    @Test
    void assign_afterTheStartedEventWasLeftBehind_isNotSuspect() {
        PartitionAssignment owned = assign();
        store().start(consumer, owned, 4);
        advance(owned, null, 5);

        assertThat(assign().suspect()).isFalse();
    }
}
