package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.LockingOutboxStore;
import dev.idempotency.spi.LowWaterMark;
import dev.idempotency.spi.OutboxFailure;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.OutboxRowId;
import dev.idempotency.spi.PublishedRows;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionContext;
import dev.idempotency.transaction.TransactionLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The contract of rows that stay locked notices what a store can do wrong: each store here does one thing wrong. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BrokenLockingStoresTest {
    private final TestDatabase database = new H2TestDatabase();

    @AfterAll
    void close() {
        database.close();
    }

    @Test
    void wrapperThatChangesNothing_isNotNoticed() {
        assertThat(failures(Locking::new, "lock_manyAtOnce_eachRowOnce", "markFailed_waitsAndCounts"))
                .isEmpty();
    }

    @Test
    void lockThatEndsWithItsStatement_isNoticed() {
        assertNotices(
                store -> new Locking(store) {
                    @Override
                    public List<OutboxRow> lock(Transaction transaction, OutboxQuery query) {
                        return elsewhere(() -> JdbiTransactionRunner.of(database.dataSource())
                                .run(TransactionLimits.ofDefaults(), own -> super.lock(own, query)));
                    }
                },
                "lock_locked_isPassedOverByOthers",
                "lock_manyAtOnce_eachRowOnce");
    }

    @Test
    void lockThatIsACommittedClaim_isNoticed() {
        assertNotices(
                store -> new Locking(store) {
                    @Override
                    public List<OutboxRow> lock(Transaction transaction, OutboxQuery query) {
                        return elsewhere(() -> JdbiOutboxStore.of(database.dataSource())
                                .claim("broken", Duration.ofSeconds(60), query)
                                .rows());
                    }
                },
                "lock_transactionRolledBack_isFreeAtOnce_andUnchanged");
    }

    private static <T> T elsewhere(Supplier<T> work) {
        return CompletableFuture.supplyAsync(work).join();
    }

    @Test
    void lockInAnyOrder_isNoticed() {
        assertNotices(
                store -> new Locking(store) {
                    @Override
                    public List<OutboxRow> lock(Transaction transaction, OutboxQuery query) {
                        List<OutboxRow> rows = new ArrayList<>(super.lock(transaction, query));
                        Collections.reverse(rows);
                        return rows;
                    }
                },
                "lock_lowestFirst_withinTheLimit");
    }

    @Test
    void markOfEverythingThatIsLocked_isNoticed() {
        assertNotices(
                store -> new Locking(store) {
                    @Override
                    public int markPublished(Transaction transaction, List<OutboxRowId> ids, PublishedRows rows) {
                        List<OutboxRowId> all = super.lock(transaction, new OutboxQuery(0, 1_000, Set.of())).stream()
                                .map(OutboxRow::id)
                                .toList();
                        return super.markPublished(transaction, all, rows);
                    }
                },
                "markPublished_someOfThem_leavesTheOthers");
    }

    @Test
    void markThatIsNotWritten_isNoticed() {
        assertNotices(
                store -> new Locking(store) {
                    @Override
                    public int markPublished(Transaction transaction, List<OutboxRowId> ids, PublishedRows rows) {
                        return ids.size();
                    }
                },
                "markPublished_notCommittedYet_isNotTakenByOthers",
                "publish_isTheEndOfARow");
    }

    @Test
    void markThatAlwaysDeletes_isNoticed() {
        assertNotices(
                store -> new Locking(store) {
                    @Override
                    public int markPublished(Transaction transaction, List<OutboxRowId> ids, PublishedRows rows) {
                        return super.markPublished(transaction, ids, PublishedRows.DELETE);
                    }
                },
                "markPublished_kept_isDeletedAfterItsRetention");
    }

    @Test
    void failureThatIsNotCounted_isNoticed() {
        assertNotices(
                store -> new Locking(store) {
                    @Override
                    public int markFailed(Transaction transaction, List<OutboxFailure> failures) {
                        return failures.size();
                    }
                },
                "markFailed_waitsAndCounts",
                "markFailed_dead_isNeverTakenAgain");
    }

    @Test
    void deathThatIsForgotten_isNoticed() {
        assertNotices(
                store -> new Locking(store) {
                    @Override
                    public int markFailed(Transaction transaction, List<OutboxFailure> failures) {
                        return super.markFailed(
                                transaction,
                                failures.stream()
                                        .map(failure -> new OutboxFailure(
                                                failure.row(), false, failure.retryAfter(), failure.error()))
                                        .toList());
                    }
                },
                "markFailed_dead_isNeverTakenAgain");
    }

    private void assertNotices(UnaryOperator<LockingOutboxStore> breaking, String... tests) {
        assertThat(failures(breaking, tests)).containsExactlyInAnyOrder(tests);
    }

    private Set<String> failures(UnaryOperator<LockingOutboxStore> breaking, String... tests) {
        return ContractRun.failures(
                () -> new SqlLockingOutboxContract() {
                    @Override
                    TestDatabase database() {
                        return database;
                    }

                    @Override
                    protected LockingOutboxStore store() {
                        return breaking.apply(super.store());
                    }
                },
                tests);
    }

    private static class Locking implements LockingOutboxStore {
        private final LockingOutboxStore store;

        Locking(LockingOutboxStore store) {
            this.store = store;
        }

        @Override
        public Set<UUID> append(TransactionContext transaction, List<OutboxEvent> events) {
            return store.append(transaction, events);
        }

        @Override
        public LowWaterMark advance(LowWaterMark mark) {
            return store.advance(mark);
        }

        @Override
        public int deletePublished(Duration age, int limit) {
            return store.deletePublished(age, limit);
        }

        @Override
        public List<OutboxRow> lock(Transaction transaction, OutboxQuery query) {
            return store.lock(transaction, query);
        }

        @Override
        public int markPublished(Transaction transaction, List<OutboxRowId> ids, PublishedRows rows) {
            return store.markPublished(transaction, ids, rows);
        }

        @Override
        public int markFailed(Transaction transaction, List<OutboxFailure> failures) {
            return store.markFailed(transaction, failures);
        }
    }
}
