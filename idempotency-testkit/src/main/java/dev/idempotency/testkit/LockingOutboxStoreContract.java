package dev.idempotency.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.spi.LockingOutboxStore;
import dev.idempotency.spi.OutboxFailure;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.OutboxRowId;
import dev.idempotency.spi.PublishedRows;
import dev.idempotency.transaction.Transaction;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** What every {@link LockingOutboxStore} must do. */
public abstract class LockingOutboxStoreContract extends OutboxStoreContract {
    private static final OutboxQuery ALL = new OutboxQuery(0, 1_000, Set.of());

    /** For subclasses. */
    protected LockingOutboxStoreContract() {}

    @Override
    protected abstract LockingOutboxStore store();

    /** Locks rows and frees them again by the end of the transaction; what is free is taken again, as with leases. */
    @Override
    final List<OutboxRow> take(OutboxQuery query) {
        return inTransaction(transaction -> store().lock(transaction, query));
    }

    private <T> T inTransaction(Function<Transaction, T> work) {
        return runner().run(LIMITS, work::apply);
    }

    private <T> T rolledBack(Function<Transaction, T> work) {
        return runner().run(LIMITS, transaction -> {
            transaction.setRollbackOnly();
            return work.apply(transaction);
        });
    }

    @Override
    final void publish(List<OutboxRow> rows) {
        int marked = inTransaction(transaction -> {
            store().lock(transaction, ALL);
            return store().markPublished(transaction, rowIds(rows), PublishedRows.KEEP);
        });
        assertThat(marked).isEqualTo(rows.size());
    }

    @Override
    final void release(List<OutboxRow> rows) {}

    @Test
    final void lock_locked_isPassedOverByOthers() {
        appendMany(6);
        try (Crew crew = new Crew(1, DEADLINE)) {
            inTransaction(transaction -> {
                List<OutboxRow> mine = store().lock(transaction, new OutboxQuery(0, 4, Set.of()));
                List<OutboxRow> theirs = crew.elsewhere(() -> take(10));
                assertThat(mine).hasSize(4);
                assertThat(theirs).hasSize(2);
                assertThat(sequences(theirs)).doesNotContainAnyElementsOf(sequences(mine));
                return true;
            });
        }
    }

    @Test
    final void lock_manyAtOnce_eachRowOnce() {
        int rounds = TestSize.rounds(10);
        try (Crew crew = new Crew(4, DEADLINE)) {
            for (int round = 0; round < rounds; round++) {
                appendMany(40);
                CyclicBarrier allHaveLocked = new CyclicBarrier(4);
                List<List<OutboxRow>> locked = crew.together(member -> inTransaction(transaction -> {
                    List<OutboxRow> rows = store().lock(transaction, new OutboxQuery(0, 10, Set.of()));
                    await(allHaveLocked);
                    store().markPublished(transaction, rowIds(rows), PublishedRows.DELETE);
                    return rows;
                }));
                List<Long> taken = new ArrayList<>();
                locked.forEach(rows -> taken.addAll(sequences(rows)));
                assertThat(taken).doesNotHaveDuplicates();
                // A race may leave rows to nobody, never to two.
                take(1_000).forEach(row -> taken.add(row.sequence()));
                publish(take(1_000));
                assertThat(taken).hasSize(40).doesNotHaveDuplicates();
            }
        }
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
            throw new IllegalStateException("The others did not lock in time", e);
        }
    }

    @Test
    final void lock_transactionRolledBack_isFreeAtOnce_andUnchanged() {
        appendMany(3);

        rolledBack(transaction -> store().lock(transaction, ALL));

        assertThat(take(10))
                .hasSize(3)
                .allSatisfy(row -> assertThat(row.attempts()).isZero());
    }

    @Test
    final void lock_lowestFirst_withinTheLimit() {
        appendMany(5);

        List<OutboxRow> rows = take(3);

        assertThat(rows).hasSize(3);
        assertThat(sequences(rows)).isSorted().isEqualTo(sequences(take(10)).subList(0, 3));
    }

    @Test
    final void mark_sequenceUsedAgain_hitsNothing() {
        appendMany(2);

        int marked = inTransaction(transaction -> {
            List<OutboxRowId> earlier = ofEarlierEvents(store().lock(transaction, ALL));
            return store().markPublished(transaction, earlier, PublishedRows.DELETE)
                    + store().markPublished(transaction, earlier, PublishedRows.KEEP)
                    + store().markFailed(transaction, failuresOf(earlier));
        });

        assertThat(marked).isZero();
        assertThat(take(10))
                .hasSize(2)
                .allSatisfy(row -> assertThat(row.attempts()).isZero());
    }

    @Test
    final void markPublished_rolledBack_isStillToDo() {
        appendMany(2);
        for (PublishedRows published : PublishedRows.values()) {
            int marked = rolledBack(transaction ->
                    store().markPublished(transaction, rowIds(store().lock(transaction, ALL)), published));

            assertThat(marked).isEqualTo(2);
            assertThat(take(10)).hasSize(2);
        }
    }

    @Test
    final void markPublished_notCommittedYet_isNotTakenByOthers() {
        appendMany(2);
        try (Crew crew = new Crew(1, DEADLINE)) {
            inTransaction(transaction -> {
                store().markPublished(transaction, rowIds(store().lock(transaction, ALL)), PublishedRows.DELETE);
                assertThat(crew.elsewhere(() -> take(10))).isEmpty();
                return true;
            });
        }
        assertThat(take(10)).isEmpty();
    }

    @Test
    final void markPublished_someOfThem_leavesTheOthers() {
        appendMany(4);

        inTransaction(transaction -> {
            List<OutboxRow> rows = store().lock(transaction, ALL);
            return store().markPublished(transaction, rowIds(rows.subList(1, 3)), PublishedRows.DELETE);
        });

        assertThat(take(10))
                .extracting(row -> new String(row.event().key().orElseThrow(), StandardCharsets.UTF_8))
                .containsExactly("key-0", "key-3");
    }

    @Test
    final void markPublished_kept_isDeletedAfterItsRetention() {
        appendMany(2);
        publish(take(10));

        assertThat(store().deletePublished(Duration.ofDays(1), 100)).isZero();
        passTime(Duration.ofDays(2));
        assertThat(store().deletePublished(Duration.ofDays(1), 100)).isEqualTo(2);
    }

    private int fail(boolean dead, Duration retryAfter) {
        return inTransaction(transaction -> store().markFailed(
                        transaction,
                        store().lock(transaction, ALL).stream()
                                .map(row -> new OutboxFailure(row.id(), dead, retryAfter, "refused"))
                                .toList()));
    }

    @Test
    final void markFailed_waitsAndCounts() {
        appendMany(2);

        assertThat(fail(false, Duration.ofMinutes(5))).isEqualTo(2);

        assertThat(take(10)).isEmpty();
        passTime(Duration.ofMinutes(6));
        assertThat(take(10))
                .hasSize(2)
                .allSatisfy(row -> assertThat(row.attempts()).isOne());
    }

    @Test
    final void markFailed_dead_isNeverTakenAgain() {
        appendMany(2);

        assertThat(fail(true, Duration.ZERO)).isEqualTo(2);

        passTime(Duration.ofDays(30));
        assertThat(take(10)).isEmpty();
        assertThat(store().deletePublished(Duration.ofDays(1), 100)).isZero();
    }

    @Test
    final void markFailed_rolledBack_countsNothing() {
        appendMany(1);

        rolledBack(transaction -> store().markFailed(
                        transaction,
                        store().lock(transaction, ALL).stream()
                                .map(row -> new OutboxFailure(row.id(), true, Duration.ZERO, "refused"))
                                .toList()));

        assertThat(take(10))
                .hasSize(1)
                .allSatisfy(row -> assertThat(row.attempts()).isZero());
    }
}
