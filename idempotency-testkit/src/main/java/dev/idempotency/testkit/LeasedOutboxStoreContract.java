package dev.idempotency.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.BucketLease;
import dev.idempotency.spi.HeldKeys;
import dev.idempotency.spi.LeasedOutboxStore;
import dev.idempotency.spi.OutboxFailure;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.OutboxRowId;
import dev.idempotency.spi.PublishedRows;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What every {@link LeasedOutboxStore} must do. */
public abstract class LeasedOutboxStoreContract extends OutboxStoreContract {
    private static final OutboxQuery ALL = new OutboxQuery(0, 1_000, Set.of());

    private List<BucketLease> leases = List.of();

    /** For subclasses. */
    protected LeasedOutboxStoreContract() {}

    @Override
    protected abstract LeasedOutboxStore store();

    /** Reads everything that is due; what was read and not marked is read again, which no test of the base minds. */
    @Override
    final List<OutboxRow> take(OutboxQuery query) {
        holdAll();
        return store().read(leases, query).stream()
                .filter(row -> row.dueIn().isZero())
                .toList();
    }

    private void holdAll() {
        if (store().extend("contract", leases, LEASE).size() < LeasedOutboxStore.SLOTS) {
            store().withdraw("contract");
            leases = store().acquire("contract", LEASE, LeasedOutboxStore.SLOTS);
            assertThat(leases).hasSize(LeasedOutboxStore.SLOTS);
        }
    }

    @Override
    final void publish(List<OutboxRow> rows) {
        assertThat(store().markPublished("contract", leases, rowIds(rows), PublishedRows.KEEP))
                .isEqualTo(rows.size());
    }

    @Override
    final void release(List<OutboxRow> rows) {}

    @AfterEach
    final void leaveNoLease() {
        for (String owner : List.of("contract", "a", "b")) {
            store().withdraw(owner);
        }
    }

    @Test
    final void acquire_all_coversEveryBucketOnce() {
        List<BucketLease> all = store().acquire("a", LEASE, 100);

        List<Integer> buckets = new ArrayList<>();
        for (BucketLease lease : all) {
            for (int bucket = lease.firstBucket(); bucket <= lease.lastBucket(); bucket++) {
                buckets.add(bucket);
            }
        }
        assertThat(all).hasSize(LeasedOutboxStore.SLOTS);
        assertThat(buckets).hasSize(OutboxEvent.BUCKETS).doesNotHaveDuplicates();
    }

    @Test
    final void acquire_held_isNotGivenTwice() {
        List<BucketLease> first = store().acquire("a", LEASE, 10);

        List<BucketLease> second = store().acquire("b", LEASE, 10);

        assertThat(first).hasSize(10);
        assertThat(second).hasSize(LeasedOutboxStore.SLOTS - 10);
        assertThat(slots(first)).doesNotContainAnyElementsOf(slots(second));
        assertThat(store().acquire("a", LEASE, 10)).isEmpty();
    }

    @Test
    final void acquire_manyAtOnce_eachRangeOnce() {
        int rounds = TestSize.rounds(10);
        try (Crew crew = new Crew(4, DEADLINE)) {
            for (int round = 0; round < rounds; round++) {
                List<List<BucketLease>> got = crew.together(member -> store().acquire("relay-" + member, LEASE, 6));
                List<Integer> slots = new ArrayList<>();
                got.forEach(each -> slots.addAll(slots(each)));
                assertThat(slots).doesNotHaveDuplicates();
                for (int member = 0; member < 4; member++) {
                    store().withdraw("relay-" + member);
                }
            }
        }
    }

    @Test
    final void acquire_leaseEnded_raisesTheEpoch() {
        List<BucketLease> lost = store().acquire("a", LEASE, 3);
        passTime(LEASE.plusSeconds(1));

        List<BucketLease> present = store().acquire("b", LEASE, 3);

        assertThat(slots(present)).containsExactlyElementsOf(slots(lost));
        for (int i = 0; i < 3; i++) {
            assertThat(present.get(i).epoch()).isGreaterThan(lost.get(i).epoch());
        }
        assertThat(store().extend("a", lost, LEASE)).isEmpty();
        assertThat(store().release("a", lost)).isZero();
        assertThat(store().extend("b", present, LEASE)).containsExactlyInAnyOrderElementsOf(present);
    }

    @Test
    final void extend_leaseEnded_isLostAlthoughNobodyTookIt() {
        List<BucketLease> lost = store().acquire("a", LEASE, 3);
        passTime(LEASE.plusSeconds(1));

        assertThat(store().extend("a", lost, LEASE)).isEmpty();
    }

    @Test
    final void extend_held_lastsLonger() {
        List<BucketLease> held = store().acquire("a", LEASE, 3);
        passTime(LEASE.minusSeconds(5));

        assertThat(store().extend("a", held, LEASE)).containsExactlyInAnyOrderElementsOf(held);

        passTime(LEASE.minusSeconds(5));
        assertThat(store().extend("a", held, LEASE)).containsExactlyInAnyOrderElementsOf(held);
    }

    @Test
    final void extend_shorter_doesNotShorten() {
        List<BucketLease> held = store().acquire("a", LEASE, 3);

        store().extend("a", held, Duration.ofSeconds(1));

        passTime(LEASE.minusSeconds(10));
        assertThat(store().extend("a", held, LEASE)).hasSize(3);
    }

    @Test
    final void release_isFreeAtOnce() {
        List<BucketLease> held = store().acquire("a", LEASE, LeasedOutboxStore.SLOTS);

        assertThat(store().release("a", held.subList(0, 4))).isEqualTo(4);

        assertThat(slots(store().acquire("b", LEASE, 100))).containsExactlyElementsOf(slots(held.subList(0, 4)));
        assertThat(store().extend("a", held, LEASE)).hasSize(LeasedOutboxStore.SLOTS - 4);
    }

    @Test
    final void announce_countsThoseThatAreKnown() {
        assertThat(store().announce("a", LEASE)).isOne();
        assertThat(store().announce("b", LEASE)).isEqualTo(2);
        assertThat(store().announce("a", LEASE)).isEqualTo(2);

        store().withdraw("b");
        assertThat(store().announce("a", LEASE)).isOne();

        store().announce("b", LEASE);
        passTime(LEASE.plusSeconds(1));
        assertThat(store().announce("a", LEASE)).isOne();
    }

    @Test
    final void withdraw_freesItsRanges() {
        store().acquire("a", LEASE, LeasedOutboxStore.SLOTS);

        store().withdraw("a");

        assertThat(store().acquire("b", LEASE, 100)).hasSize(LeasedOutboxStore.SLOTS);
    }

    @Test
    final void read_isOfTheLeasedBucketsOnly() {
        appendMany(200);
        List<BucketLease> all = store().acquire("a", LEASE, LeasedOutboxStore.SLOTS);
        List<BucketLease> scattered = List.of(all.get(0), all.get(1), all.get(5), all.get(15));

        List<OutboxRow> some = store().read(scattered, ALL);
        List<BucketLease> others = new ArrayList<>(all);
        others.removeAll(scattered);
        List<OutboxRow> rest = store().read(others, ALL);

        assertThat(some)
                .isNotEmpty()
                .allSatisfy(row -> assertThat(scattered)
                        .anyMatch(lease -> lease.firstBucket() <= row.bucket() && row.bucket() <= lease.lastBucket()));
        assertThat(sequences(some)).isSorted();
        assertThat(sequences(rest)).isSorted();
        assertThat(some.size() + rest.size()).isEqualTo(200);
        assertThat(sequences(store().read(scattered, new OutboxQuery(0, 3, Set.of()))))
                .isEqualTo(sequences(some.subList(0, 3)));
    }

    @Test
    final void read_keysHeld_areLeftOutExceptTheirHeads() {
        append(
                event("a").build(),
                event("a").build(),
                event("b").build(),
                event("A").build(),
                event("a").orderingKey("order").build(),
                event("c").orderingKey("order").build(),
                event("order").build(),
                OutboxEvent.to("orders").eventId(UUID.randomUUID()).build());
        List<BucketLease> all = store().acquire("a", LEASE, LeasedOutboxStore.SLOTS);
        List<OutboxRow> rows = store().read(all, ALL);
        ByteBuffer a = ByteBuffer.wrap("a".getBytes(StandardCharsets.UTF_8));

        HeldKeys keys = new HeldKeys(Set.of(rows.get(0).sequence()), Set.of(), Set.of(a));
        HeldKeys orderingKeys = new HeldKeys(Set.of(rows.get(4).sequence()), Set.of("order"), Set.of());
        HeldKeys both = new HeldKeys(Set.of(), Set.of("order"), Set.of(a));

        assertThat(readWithout(all, keys)).containsExactlyElementsOf(sequences(without(rows, 1)));
        assertThat(readWithout(all, orderingKeys)).containsExactlyElementsOf(sequences(without(rows, 5)));
        assertThat(readWithout(all, both)).containsExactlyElementsOf(sequences(without(rows, 0, 1, 4, 5)));
        assertThat(readWithout(all, HeldKeys.none())).containsExactlyElementsOf(sequences(rows));
        assertThat(readWithout(all.subList(0, 1), both)).isSubsetOf(sequences(rows));
    }

    private List<Long> readWithout(List<BucketLease> ranges, HeldKeys held) {
        return sequences(store().read(ranges, new OutboxQuery(0, 100, Long.MAX_VALUE, Set.of(), held)));
    }

    private static List<OutboxRow> without(List<OutboxRow> rows, Integer... places) {
        List<OutboxRow> rest = new ArrayList<>();
        for (int place = 0; place < rows.size(); place++) {
            if (!List.of(places).contains(place)) {
                rest.add(rows.get(place));
            }
        }
        return rest;
    }

    @Test
    final void read_waitingRow_isReadWithItsWait() {
        append(event("a").delay(Duration.ofMinutes(5)).build());
        List<BucketLease> all = store().acquire("a", LEASE, LeasedOutboxStore.SLOTS);

        assertThat(store().read(all, ALL))
                .singleElement()
                .satisfies(row -> assertThat(row.dueIn()).isBetween(Duration.ofMinutes(4), Duration.ofMinutes(5)));
    }

    @Test
    final void mark_sequenceUsedAgain_hitsNothing() {
        appendMany(2);
        List<BucketLease> all = store().acquire("a", LEASE, LeasedOutboxStore.SLOTS);
        List<OutboxRow> present = store().read(all, ALL);
        List<OutboxRowId> earlier = ofEarlierEvents(present);

        for (PublishedRows rows : PublishedRows.values()) {
            assertThat(store().markPublished("a", all, earlier, rows)).isZero();
        }
        assertThat(store().markFailed("a", all, failuresOf(earlier))).isZero();

        assertThat(store().markPublished("a", all, rowIds(present), PublishedRows.DELETE))
                .isEqualTo(2);
    }

    @Test
    final void markPublished_leaseLost_changesNothing() {
        appendMany(3);
        List<BucketLease> lost = store().acquire("a", LEASE, LeasedOutboxStore.SLOTS);
        List<OutboxRowId> rows = rowIds(store().read(lost, ALL));
        passTime(LEASE.plusSeconds(1));
        List<BucketLease> present = store().acquire("b", LEASE, LeasedOutboxStore.SLOTS);

        for (PublishedRows published : PublishedRows.values()) {
            assertThat(store().markPublished("a", lost, rows, published)).isZero();
            assertThat(store().markPublished("a", present, rows, published)).isZero();
            assertThat(store().markPublished("b", lost, rows, published)).isZero();
        }

        assertThat(store().markPublished("b", present, rows, PublishedRows.DELETE))
                .isEqualTo(3);
    }

    @Test
    final void markPublished_rangeNotLeased_changesNothing() {
        appendMany(50);
        List<BucketLease> all = store().acquire("a", LEASE, LeasedOutboxStore.SLOTS);
        List<OutboxRow> rows = store().read(all, ALL);
        BucketLease first = all.get(0);
        long own =
                rows.stream().filter(row -> row.bucket() <= first.lastBucket()).count();

        assertThat(store().markPublished("a", List.of(first), rowIds(rows), PublishedRows.DELETE))
                .isEqualTo((int) own);

        assertThat(store().read(all, ALL)).hasSize(50 - (int) own);
    }

    @Test
    final void markFailed_leaseLost_changesNothing() {
        appendMany(1);
        List<BucketLease> lost = store().acquire("a", LEASE, LeasedOutboxStore.SLOTS);
        OutboxRow row = store().read(lost, ALL).get(0);
        passTime(LEASE.plusSeconds(1));
        List<BucketLease> present = store().acquire("b", LEASE, LeasedOutboxStore.SLOTS);

        assertThat(store().markFailed("a", lost, List.of(failure(row, true)))).isZero();
        assertThat(store().read(present, ALL))
                .singleElement()
                .satisfies(again -> assertThat(again.attempts()).isZero());

        store().markPublished("b", present, List.of(row.id()), PublishedRows.KEEP);
        assertThat(store().markFailed("b", present, List.of(failure(row, false))))
                .isZero();
        assertThat(store().read(present, ALL)).isEmpty();
    }

    @Test
    final void markFailed_waitsThenDies() {
        appendMany(2);
        List<BucketLease> all = store().acquire("a", LEASE, LeasedOutboxStore.SLOTS);
        OutboxRow row = store().read(all, ALL).get(0);

        assertThat(store().markFailed("a", all, List.of(failure(row, false)))).isOne();

        OutboxRow waiting = store().read(all, ALL).get(0);
        assertThat(waiting.sequence()).isEqualTo(row.sequence());
        assertThat(waiting.attempts()).isOne();
        assertThat(waiting.dueIn()).isPositive();

        assertThat(store().markFailed("a", all, List.of(failure(row, true)))).isOne();
        assertThat(store().read(all, ALL)).hasSize(1);
    }

    private static List<Integer> slots(List<BucketLease> leases) {
        return leases.stream().map(BucketLease::slot).toList();
    }

    private static OutboxFailure failure(OutboxRow row, boolean dead) {
        return new OutboxFailure(row.id(), dead, Duration.ofMinutes(1), "refused by the contract");
    }
}
