package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.BucketLease;
import dev.idempotency.spi.ClaimingOutboxStore;
import dev.idempotency.spi.LeasedOutboxStore;
import dev.idempotency.spi.LowWaterMark;
import dev.idempotency.spi.OutboxClaim;
import dev.idempotency.spi.OutboxEntry;
import dev.idempotency.spi.OutboxFailure;
import dev.idempotency.spi.OutboxFilter;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.OutboxRowId;
import dev.idempotency.spi.PublishedRows;
import dev.idempotency.transaction.TransactionContext;
import dev.idempotency.transaction.TransactionLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The contracts notice what a store can do wrong: each store here does one thing wrong. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BrokenOutboxStoresTest {
    private final TestDatabase database = new H2TestDatabase();

    @AfterAll
    void close() {
        database.close();
    }

    @Test
    void wrapperThatChangesNothing_isNotNoticed() {
        assertThat(claimingFailures(Claiming::new, "claim_manyAtOnce_eachRowOnce", "append_many_keepTheirOrder"))
                .isEmpty();
        assertThat(leasedFailures(Leased::new, "acquire_manyAtOnce_eachRangeOnce", "append_many_keepTheirOrder"))
                .isEmpty();
    }

    @Test
    void appendInATransactionOfItsOwn_isNoticed() {
        assertClaimingNotices(
                store -> new Claiming(store) {
                    @Override
                    public Set<UUID> append(TransactionContext transaction, List<OutboxEvent> events) {
                        return JdbiTransactionRunner.of(database.dataSource())
                                .run(TransactionLimits.ofDefaults(), own -> super.append(own, events));
                    }
                },
                "append_rolledBack_leavesNothing",
                "append_notCommittedYet_isNotTaken");
    }

    @Test
    void appendThatForgetsTheDelay_isNoticed() {
        assertClaimingNotices(
                store -> new Claiming(store) {
                    @Override
                    public Set<UUID> append(TransactionContext transaction, List<OutboxEvent> events) {
                        return super.append(
                                transaction,
                                events.stream()
                                        .map(event -> event.delay().isZero() ? event : withoutDelay(event))
                                        .toList());
                    }
                },
                "append_delayed_isNotDueBeforeItsTime");
    }

    private static OutboxEvent withoutDelay(OutboxEvent event) {
        return OutboxEvent.to(event.topic())
                .eventId(event.eventId().orElseThrow())
                .key(event.key().orElseThrow())
                .build();
    }

    @Test
    void appendThatReordersItsEvents_isNoticed() {
        assertClaimingNotices(
                store -> new Claiming(store) {
                    @Override
                    public Set<UUID> append(TransactionContext transaction, List<OutboxEvent> events) {
                        List<OutboxEvent> reversed = new ArrayList<>(events);
                        Collections.reverse(reversed);
                        return super.append(transaction, reversed);
                    }
                },
                "append_many_keepTheirOrder");
    }

    @Test
    void claimThatLosesTheLock_isNoticed() {
        assertClaimingNotices(
                store -> new Claiming(store) {
                    @Override
                    public OutboxClaim claim(String owner, Duration leaseDuration, OutboxQuery query) {
                        OutboxClaim claim = super.claim(owner, leaseDuration, query);
                        if (!claim.rows().isEmpty()) {
                            super.release(
                                    claim.token(),
                                    claim.rows().stream().map(OutboxRow::id).toList());
                        }
                        return claim;
                    }
                },
                "claim_claimed_isNotClaimedTwice",
                "claim_manyAtOnce_eachRowOnce");
    }

    @Test
    void marksThatForgetTheToken_areNoticed() {
        assertClaimingNotices(
                store -> new Claiming(store) {
                    @Override
                    public int markPublished(long token, List<OutboxRowId> ids, PublishedRows rows) {
                        int marked = 0;
                        for (OutboxRowId id : ids) {
                            marked += super.markPublished(presentToken(id.sequence()), List.of(id), rows);
                        }
                        return marked;
                    }
                },
                "markPublished_claimLost_changesNothing");
        assertClaimingNotices(
                store -> new Claiming(store) {
                    @Override
                    public int markFailed(long token, List<OutboxFailure> failures) {
                        int marked = 0;
                        for (OutboxFailure failure : failures) {
                            marked +=
                                    super.markFailed(presentToken(failure.row().sequence()), List.of(failure));
                        }
                        return marked;
                    }
                },
                "release_claimLost_leavesTheSuccessorsClaim");
    }

    @Test
    void marksThatForgetTheEvent_areNoticed() {
        assertClaimingNotices(
                store -> new Claiming(store) {
                    @Override
                    public int markPublished(long token, List<OutboxRowId> ids, PublishedRows rows) {
                        return super.markPublished(token, presentEvents(ids), rows);
                    }
                },
                "mark_sequenceUsedAgain_hitsNothing");
        assertClaimingNotices(
                store -> new Claiming(store) {
                    @Override
                    public int release(long token, List<OutboxRowId> ids) {
                        return super.release(token, presentEvents(ids));
                    }
                },
                "mark_sequenceUsedAgain_hitsNothing");
        assertLeasedNotices(
                store -> new Leased(store) {
                    @Override
                    public int markFailed(String owner, Collection<BucketLease> leases, List<OutboxFailure> failures) {
                        return super.markFailed(
                                owner,
                                leases,
                                failures.stream()
                                        .map(failure -> new OutboxFailure(
                                                presentEvents(List.of(failure.row()))
                                                        .get(0),
                                                failure.dead(),
                                                failure.retryAfter(),
                                                failure.error()))
                                        .toList());
                    }
                },
                "mark_sequenceUsedAgain_hitsNothing");
    }

    private List<OutboxRowId> presentEvents(List<OutboxRowId> ids) {
        JdbiOutboxStore operator = JdbiOutboxStore.of(database.dataSource());
        Map<Long, UUID> present = new HashMap<>();
        for (OutboxEntry.Status status : OutboxEntry.Status.values()) {
            operator.find(status, OutboxFilter.all(), 100)
                    .forEach(entry -> present.put(entry.sequence(), entry.eventId()));
        }
        return ids.stream()
                .map(id -> new OutboxRowId(id.sequence(), present.getOrDefault(id.sequence(), id.eventId())))
                .toList();
    }

    @Test
    void failureThatBringsAPublishedRowBack_isNoticed() {
        assertClaimingNotices(
                store -> new Claiming(store) {
                    @Override
                    public int markFailed(long token, List<OutboxFailure> failures) {
                        failures.forEach(failure -> database.execute(
                                "UPDATE outbox_event SET status = 'PENDING', done_at = NULL WHERE status = 'PUBLISHED'"
                                        + " AND seq = " + failure.row().sequence()));
                        return super.markFailed(token, failures);
                    }
                },
                "markFailed_claimLost_doesNotBringAPublishedRowBack");
    }

    @Test
    void cleanUpThatDeletesTooMuch_isNoticed() {
        assertClaimingNotices(
                store -> new Claiming(store) {
                    @Override
                    public int deletePublished(Duration age, int limit) {
                        database.execute("DELETE FROM outbox_event WHERE status = 'DEAD' OR status = 'PENDING'");
                        return super.deletePublished(age, limit);
                    }
                },
                "deletePublished_deletesNothingElse");
    }

    @Test
    void markThatPassesOpenWriters_isNoticed() {
        assertClaimingNotices(
                store -> new Claiming(store) {
                    @Override
                    public LowWaterMark advance(LowWaterMark mark) {
                        return new LowWaterMark(greatestSequence() + 1, greatestSequence() + 1, 0, 0);
                    }
                },
                "advance_neverPassesAnUnfinishedRow",
                "advance_whileAWriterIsOpen_promisesNothingAboveItsRows");
    }

    @Test
    void leaseThatIsGivenTwice_isNoticed() {
        assertLeasedNotices(
                store -> new Leased(store) {
                    @Override
                    public List<BucketLease> acquire(String owner, Duration leaseDuration, int most) {
                        database.execute("UPDATE outbox_lease SET owner = NULL");
                        return super.acquire(owner, leaseDuration, most);
                    }
                },
                "acquire_held_isNotGivenTwice",
                "acquire_manyAtOnce_eachRangeOnce");
    }

    @Test
    void extensionThatRevivesALease_isNoticed() {
        assertLeasedNotices(
                store -> new Leased(store) {
                    @Override
                    public List<BucketLease> extend(
                            String owner, Collection<BucketLease> leases, Duration leaseDuration) {
                        leases.forEach(lease -> database.execute("UPDATE outbox_lease SET expires_at = GREATEST("
                                + "expires_at, DATEADD(SECOND, 1, CURRENT_TIMESTAMP)) WHERE owner = '" + owner
                                + "' AND slot = " + lease.slot()));
                        return super.extend(owner, leases, leaseDuration);
                    }
                },
                "extend_leaseEnded_isLostAlthoughNobodyTookIt");
    }

    @Test
    void marksThatForgetTheEpoch_areNoticed() {
        assertLeasedNotices(
                store -> new Leased(store) {
                    @Override
                    public int markPublished(
                            String owner, Collection<BucketLease> leases, List<OutboxRowId> ids, PublishedRows rows) {
                        return super.markPublished(owner, presentEpochs(leases), ids, rows);
                    }
                },
                "markPublished_leaseLost_changesNothing");
    }

    @Test
    void readThatIgnoresItsBuckets_isNoticed() {
        assertLeasedNotices(
                store -> new Leased(store) {
                    @Override
                    public List<OutboxRow> read(Collection<BucketLease> leases, OutboxQuery query) {
                        return super.read(List.of(new BucketLease(0, 0, 255, 1)), query);
                    }
                },
                "read_isOfTheLeasedBucketsOnly");
    }

    private List<BucketLease> presentEpochs(Collection<BucketLease> leases) {
        return leases.stream()
                .map(lease -> new BucketLease(
                        lease.slot(),
                        lease.firstBucket(),
                        lease.lastBucket(),
                        number("SELECT epoch FROM outbox_lease WHERE slot = " + lease.slot())))
                .toList();
    }

    private long presentToken(long sequence) {
        return number("SELECT COALESCE(MAX(claim_token), 0) FROM outbox_event WHERE seq = " + sequence);
    }

    private long greatestSequence() {
        return number("SELECT COALESCE(MAX(seq), 0) FROM outbox_event");
    }

    private long number(String query) {
        try (var connection = database.dataSource().getConnection()) {
            return TestDatabase.number(connection, query);
        } catch (java.sql.SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private void assertClaimingNotices(UnaryOperator<ClaimingOutboxStore> breaking, String... tests) {
        assertThat(claimingFailures(breaking, tests)).containsExactlyInAnyOrder(tests);
    }

    private Set<String> claimingFailures(UnaryOperator<ClaimingOutboxStore> breaking, String... tests) {
        return ContractRun.failures(
                () -> new SqlClaimingOutboxContract() {
                    @Override
                    TestDatabase database() {
                        return database;
                    }

                    @Override
                    protected ClaimingOutboxStore store() {
                        return breaking.apply(super.store());
                    }
                },
                tests);
    }

    private void assertLeasedNotices(UnaryOperator<LeasedOutboxStore> breaking, String... tests) {
        assertThat(leasedFailures(breaking, tests)).containsExactlyInAnyOrder(tests);
    }

    private Set<String> leasedFailures(UnaryOperator<LeasedOutboxStore> breaking, String... tests) {
        return ContractRun.failures(
                () -> new SqlLeasedOutboxContract() {
                    @Override
                    TestDatabase database() {
                        return database;
                    }

                    @Override
                    protected LeasedOutboxStore store() {
                        return breaking.apply(super.store());
                    }
                },
                tests);
    }

    private static class Claiming implements ClaimingOutboxStore {
        private final ClaimingOutboxStore store;

        Claiming(ClaimingOutboxStore store) {
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
        public OutboxClaim claim(String owner, Duration leaseDuration, OutboxQuery query) {
            return store.claim(owner, leaseDuration, query);
        }

        @Override
        public int markPublished(long token, List<OutboxRowId> ids, PublishedRows rows) {
            return store.markPublished(token, ids, rows);
        }

        @Override
        public int markFailed(long token, List<OutboxFailure> failures) {
            return store.markFailed(token, failures);
        }

        @Override
        public int release(long token, List<OutboxRowId> ids) {
            return store.release(token, ids);
        }

        @Override
        public int returnExpired(int limit) {
            return store.returnExpired(limit);
        }
    }

    private static class Leased implements LeasedOutboxStore {
        private final LeasedOutboxStore store;

        Leased(LeasedOutboxStore store) {
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
        public int announce(String owner, Duration leaseDuration) {
            return store.announce(owner, leaseDuration);
        }

        @Override
        public List<BucketLease> acquire(String owner, Duration leaseDuration, int most) {
            return store.acquire(owner, leaseDuration, most);
        }

        @Override
        public List<BucketLease> extend(String owner, Collection<BucketLease> leases, Duration leaseDuration) {
            return store.extend(owner, leases, leaseDuration);
        }

        @Override
        public int release(String owner, Collection<BucketLease> leases) {
            return store.release(owner, leases);
        }

        @Override
        public void withdraw(String owner) {
            store.withdraw(owner);
        }

        @Override
        public List<OutboxRow> read(Collection<BucketLease> leases, OutboxQuery query) {
            return store.read(leases, query);
        }

        @Override
        public int markPublished(
                String owner, Collection<BucketLease> leases, List<OutboxRowId> ids, PublishedRows rows) {
            return store.markPublished(owner, leases, ids, rows);
        }

        @Override
        public int markFailed(String owner, Collection<BucketLease> leases, List<OutboxFailure> failures) {
            return store.markFailed(owner, leases, failures);
        }
    }
}
