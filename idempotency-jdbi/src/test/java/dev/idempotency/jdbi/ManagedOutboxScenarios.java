package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.LowWaterMark;
import dev.idempotency.spi.OutboxBacklog;
import dev.idempotency.spi.OutboxClaim;
import dev.idempotency.spi.OutboxEntry;
import dev.idempotency.spi.OutboxEntry.Status;
import dev.idempotency.spi.OutboxFailure;
import dev.idempotency.spi.OutboxFilter;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.OutboxRowId;
import dev.idempotency.spi.PublishedRows;
import dev.idempotency.transaction.TransactionLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What operators do with the outbox, on a {@link TestDatabase}. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ManagedOutboxScenarios {
    private static final OutboxQuery ALL = new OutboxQuery(0, 1_000, Set.of());

    private JdbiOutboxStore store;

    abstract TestDatabase database();

    /** Tells whether relays leave numbers behind, so that a row that comes back needs another. */
    abstract boolean drawsNumbersAnew();

    @BeforeEach
    void connect() {
        OutboxTables.empty(database());
        store = JdbiOutboxStore.of(database().dataSource());
    }

    private List<UUID> append(String topic, int count) {
        List<OutboxEvent> events = new ArrayList<>();
        List<UUID> ids = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            UUID id = UUID.randomUUID();
            ids.add(id);
            events.add(OutboxEvent.to(topic)
                    .eventId(id)
                    .key("k")
                    .tenant("tenant-" + i % 2)
                    .build());
        }
        JdbiTransactionRunner.of(database().dataSource())
                .run(TransactionLimits.ofDefaults(), transaction -> store.append(transaction, events));
        return ids;
    }

    private OutboxClaim claim(String owner) {
        return store.claim(owner, Duration.ofHours(1), ALL);
    }

    private void killAll() {
        OutboxClaim claim = claim("killer");
        List<OutboxFailure> failures = claim.rows().stream()
                .map(row -> new OutboxFailure(row.id(), true, Duration.ZERO, "refused"))
                .toList();
        assertThat(store.markFailed(claim.token(), failures)).isEqualTo(failures.size());
    }

    private List<UUID> find(Status status) {
        return store.find(status, OutboxFilter.all(), 100).stream()
                .map(OutboxEntry::eventId)
                .toList();
    }

    @Test
    void backlog_isTheDistanceBetweenTheEnds_andTheAgeOfTheFirst() {
        assertThat(store.backlog()).isEqualTo(new OutboxBacklog(0, Duration.ZERO));
        append("a", 3);
        OutboxTables.passTime(database(), Duration.ofMinutes(5));
        append("a", 2);

        assertThat(store.backlog().atMost()).isEqualTo(5);
        assertThat(store.backlog().oldestAge()).isBetween(Duration.ofMinutes(5), Duration.ofMinutes(6));
        OutboxClaim claim = claim("r");
        store.markPublished(
                claim.token(), claim.rows().stream().limit(4).map(OutboxRow::id).toList(), PublishedRows.KEEP);
        assertThat(store.backlog().atMost()).isOne();
        assertThat(store.backlog().oldestAge()).isLessThan(Duration.ofMinutes(1));
    }

    @Test
    void find_eachState_oldestFirst() {
        List<UUID> ids = append("a", 4);
        OutboxClaim claim = claim("relay-1");
        List<OutboxRowId> rows = claim.rows().stream().map(OutboxRow::id).toList();
        store.markPublished(claim.token(), rows.subList(0, 1), PublishedRows.KEEP);
        store.markFailed(claim.token(), List.of(new OutboxFailure(rows.get(1), true, Duration.ZERO, "too large")));
        store.release(claim.token(), rows.subList(2, 3));

        assertThat(find(Status.PUBLISHED)).containsExactly(ids.get(0));
        assertThat(find(Status.DEAD)).containsExactly(ids.get(1));
        assertThat(find(Status.PENDING)).containsExactly(ids.get(2));
        assertThat(find(Status.PUBLISHING)).containsExactly(ids.get(3));
        OutboxEntry dead = store.find(Status.DEAD, OutboxFilter.all(), 1).get(0);
        assertThat(dead.lastError()).isEqualTo("too large");
        assertThat(dead.attempts()).isOne();
        assertThat(dead.topic()).isEqualTo("a");
        assertThat(store.find(Status.PUBLISHING, OutboxFilter.all(), 1).get(0).owner())
                .isEqualTo("relay-1");
    }

    @Test
    void find_filtersAndLimits() {
        List<UUID> ids = append("a", 4);
        append("b", 2);

        assertThat(store.find(Status.PENDING, OutboxFilter.ofTopics("a"), 100)).hasSize(4);
        assertThat(store.find(Status.PENDING, OutboxFilter.ofTopics("a").withTenants("tenant-1"), 100))
                .extracting(OutboxEntry::eventId)
                .containsExactly(ids.get(1), ids.get(3));
        assertThat(store.find(Status.PENDING, OutboxFilter.ofEvents(ids.get(2)), 100))
                .extracting(OutboxEntry::eventId)
                .containsExactly(ids.get(2));
        assertThat(store.find(Status.PENDING, OutboxFilter.all(), 3))
                .extracting(OutboxEntry::eventId)
                .containsExactlyElementsOf(ids.subList(0, 3));
        assertThatIllegalArgumentException().isThrownBy(OutboxFilter::ofTopics);
        for (int limit : List.of(0, 10_001)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> store.find(Status.PENDING, OutboxFilter.all(), limit));
        }
    }

    /** A relay has left the old numbers behind: below its low-water mark it never looks again. */
    @Test
    void requeue_isSeenByRelays_inItsOldOrder() {
        List<UUID> dead = append("a", 5);
        killAll();
        List<UUID> later = append("a", 2);
        LowWaterMark mark = LowWaterMark.unknown();
        for (int i = 0; i < 3; i++) {
            mark = store.advance(mark);
        }

        assertThat(store.requeue(OutboxFilter.all(), 3)).isEqualTo(3);
        assertThat(store.requeue(OutboxFilter.all(), 3)).isEqualTo(2);
        assertThat(store.requeue(OutboxFilter.all(), 3)).isZero();

        OutboxClaim claim = store.claim("r", Duration.ofHours(1), new OutboxQuery(mark.firstLive(), 100, Set.of()));
        List<UUID> expected = new ArrayList<>(drawsNumbersAnew() ? later : dead);
        expected.addAll(drawsNumbersAnew() ? dead : later);
        assertThat(claim.rows()).extracting(OutboxRow::eventId).containsExactlyElementsOf(expected);
        assertThat(claim.rows()).allSatisfy(row -> assertThat(row.attempts()).isZero());
    }

    @Test
    void requeue_leavesOthersAlone() {
        append("a", 2);
        killAll();
        append("b", 2);
        killAll();
        append("a", 1);

        assertThat(store.requeue(OutboxFilter.ofTopics("b"), 100)).isEqualTo(2);

        assertThat(find(Status.DEAD)).hasSize(2);
        assertThat(find(Status.PENDING)).hasSize(3);
    }

    @Test
    void skip_givesUpWhatWaits_andNothingElse() {
        append("a", 2);
        claim("relay-1");
        List<UUID> ids = append("a", 2);
        append("b", 1);

        assertThat(store.skip(OutboxFilter.ofTopics("a"), "by hand\0", 100)).isEqualTo(2);

        assertThat(find(Status.DEAD)).containsExactlyInAnyOrderElementsOf(ids);
        assertThat(store.find(Status.DEAD, OutboxFilter.all(), 1).get(0).lastError())
                .isEqualTo("by hand ");
        assertThat(find(Status.PUBLISHING)).hasSize(2);
        assertThat(find(Status.PENDING)).hasSize(1);
        assertThat(store.skip(OutboxFilter.ofTopics("none"), "by hand", 100)).isZero();
    }

    @Test
    void discard_deletesWhatIsDead_andNothingElse() {
        append("a", 3);
        killAll();
        append("a", 1);

        assertThat(store.discard(OutboxFilter.all(), 2)).isEqualTo(2);
        assertThat(store.discard(OutboxFilter.all(), 2)).isOne();

        assertThat(find(Status.DEAD)).isEmpty();
        assertThat(find(Status.PENDING)).hasSize(1);
    }

    @Test
    void releaseClaims_ofOneOwner_fencesItsMarks() {
        append("a", 2);
        OutboxClaim gone = claim("gone");
        append("a", 1);
        claim("alive");

        assertThat(store.releaseClaims("gone", 100)).isEqualTo(2);
        assertThat(store.releaseClaims("gone", 100)).isZero();

        assertThat(store.markPublished(
                        gone.token(), gone.rows().stream().map(OutboxRow::id).toList(), PublishedRows.KEEP))
                .isZero();
        assertThat(store.find(Status.PENDING, OutboxFilter.all(), 10))
                .hasSize(2)
                .allSatisfy(entry -> assertThat(entry.crashes()).isOne());
        assertThat(find(Status.PUBLISHING)).hasSize(1);
    }
}
