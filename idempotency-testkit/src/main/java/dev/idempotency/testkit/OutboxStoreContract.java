package dev.idempotency.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.OutboxEvent;
import dev.idempotency.StoreException;
import dev.idempotency.spi.LowWaterMark;
import dev.idempotency.spi.OutboxFailure;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.OutboxRowId;
import dev.idempotency.spi.OutboxStore;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/**
 * What every {@link OutboxStore} must do, whichever way its rows are relayed; the contracts of the three ways inherit it.
 */
public abstract class OutboxStoreContract {
    /** How long a contract waits for what must happen. */
    static final Duration DEADLINE = Duration.ofSeconds(60);

    static final TransactionLimits LIMITS = TransactionLimits.ofDefaults();

    static final Duration LEASE = Duration.ofSeconds(60);

    /** For subclasses. */
    protected OutboxStoreContract() {}

    /**
     * Returns the store under test, empty at the begin of each test.
     *
     * @return the store
     */
    protected abstract OutboxStore store();

    /**
     * Returns a runner of transactions in the store's database.
     *
     * @return the runner
     */
    protected abstract TransactionRunner runner();

    /**
     * Makes everything in the store older, as if this time had passed by the store's clock.
     *
     * @param duration how much time
     */
    protected abstract void passTime(Duration duration);

    /** Takes rows as a relay does, once; what it took before and did not give back it does not get again. */
    abstract List<OutboxRow> take(OutboxQuery query);

    /** Marks rows that were taken last as published. */
    abstract void publish(List<OutboxRow> rows);

    final List<OutboxRow> take(int limit) {
        return take(new OutboxQuery(0, limit, Set.of()));
    }

    static OutboxEvent.Builder event(String key) {
        return OutboxEvent.to("orders").eventId(UUID.randomUUID()).key(key);
    }

    final Set<UUID> append(OutboxEvent... events) {
        return runner().run(LIMITS, transaction -> store().append(transaction, List.of(events)));
    }

    final void appendMany(int count) {
        List<OutboxEvent> events = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            events.add(event("key-" + i).build());
        }
        append(events.toArray(OutboxEvent[]::new));
    }

    static List<UUID> ids(List<OutboxRow> rows) {
        return rows.stream().map(OutboxRow::eventId).toList();
    }

    static List<OutboxRowId> rowIds(List<OutboxRow> rows) {
        return rows.stream().map(OutboxRow::id).toList();
    }

    /** As of events that had these rows' numbers before them: what a relay holds after a sequence was set back. */
    static List<OutboxRowId> ofEarlierEvents(List<OutboxRow> rows) {
        return rows.stream()
                .map(row -> new OutboxRowId(row.sequence(), UUID.randomUUID()))
                .toList();
    }

    static List<OutboxFailure> failuresOf(List<OutboxRowId> ids) {
        return ids.stream()
                .map(id -> new OutboxFailure(id, true, Duration.ZERO, "refused by the contract"))
                .toList();
    }

    static List<Long> sequences(List<OutboxRow> rows) {
        return rows.stream().map(OutboxRow::sequence).toList();
    }

    @Test
    final void append_committed_isTakenUnchanged() {
        OutboxEvent event = OutboxEvent.to("orders.placed_v1-x")
                .eventId(UUID.randomUUID())
                .key("Käse-😀")
                .partition(3)
                .payload("Zürich")
                .orderingKey("order/1 ß")
                .tenant("acme")
                .type("OrderPlaced")
                .header("a", "1")
                .header("Ünïcode", "tab\t line\n back\\slash nul\0 cr\r emoji😀")
                .header("empty", "")
                .build();

        append(event);

        OutboxRow row = take(10).get(0);
        assertThat(row.event()).usingRecursiveComparison().isEqualTo(event);
        assertThat(row.bucket()).isEqualTo(event.bucket());
        assertThat(row.attempts()).isZero();
        assertThat(row.dueIn()).isZero();
        assertThat(row.sequence()).isPositive();
    }

    @Test
    final void append_nothingButTopicAndId_isTakenUnchanged() {
        OutboxEvent event = OutboxEvent.to("t").eventId(UUID.randomUUID()).build();

        append(event);

        assertThat(take(10).get(0).event()).usingRecursiveComparison().isEqualTo(event);
    }

    @Test
    final void append_emptyKeyAndPayload_areNotAbsent() {
        append(OutboxEvent.to("t")
                .eventId(UUID.randomUUID())
                .key("")
                .payload("")
                .build());

        OutboxEvent taken = take(10).get(0).event();

        assertThat(taken.key()).hasValueSatisfying(key -> assertThat(key).isEmpty());
        assertThat(taken.payload())
                .hasValueSatisfying(payload -> assertThat(payload).isEmpty());
    }

    @Test
    final void append_megabyteOfAnyBytes_isTakenUnchanged() {
        byte[] payload = new byte[1_000_000];
        for (int i = 0; i < payload.length; i++) {
            payload[i] = (byte) (i * 31);
        }

        append(event("big").payload(payload).build());

        assertThat(take(10).get(0).event().payload())
                .hasValueSatisfying(
                        taken -> assertThat(Arrays.equals(taken, payload)).isTrue());
    }

    @Test
    final void append_rolledBack_leavesNothing() {
        runner().run(LIMITS, transaction -> {
            store().append(transaction, List.of(event("a").build()));
            transaction.setRollbackOnly();
            return true;
        });

        assertThat(take(10)).isEmpty();
    }

    @Test
    final void append_notCommittedYet_isNotTaken() {
        try (Crew crew = new Crew(1, DEADLINE)) {
            runner().run(LIMITS, transaction -> {
                store().append(transaction, List.of(event("a").build()));
                assertThat(crew.elsewhere(() -> take(10))).isEmpty();
                return true;
            });
        }

        assertThat(take(10)).hasSize(1);
    }

    @Test
    final void append_many_keepTheirOrder() {
        List<OutboxEvent> events = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            events.add(event("key-" + i % 7).payload(Integer.toString(i)).build());
        }

        append(events.toArray(OutboxEvent[]::new));

        List<OutboxRow> rows = take(1_000);
        assertThat(ids(rows))
                .containsExactlyElementsOf(events.stream()
                        .map(each -> each.eventId().orElseThrow())
                        .toList());
        assertThat(sequences(rows)).isSorted().doesNotHaveDuplicates();
    }

    @Test
    final void appendNew_many_areTakenUnchangedInTheirOrder_andRolledBackWithTheRest() {
        OutboxEvent first = event("a").payload("1").header("h", "v").build();
        OutboxEvent second = event("b").payload("2").build();
        assertThatThrownBy(() -> runner().run(LIMITS, transaction -> {
                    store().appendNew(transaction, List.of(event("gone").build()));
                    throw new IllegalStateException("Injected by the test");
                }))
                .isInstanceOf(IllegalStateException.class);
        runner().run(LIMITS, transaction -> {
            store().appendNew(transaction, List.of(first, second));
            return true;
        });

        List<OutboxRow> rows = take(10);

        assertThat(rows)
                .extracting(row -> row.eventId())
                .containsExactly(first.eventId().orElseThrow(), second.eventId().orElseThrow());
        assertThat(rows.get(0).event().headers()).isEqualTo(first.headers());
        assertThat(rows.get(1).event().payload().orElseThrow())
                .isEqualTo(second.payload().orElseThrow());
    }

    @Test
    final void append_sameEventTwice_isScheduledOnce() {
        OutboxEvent event = event("a").payload("1").build();
        assertThat(append(event)).isEmpty();

        Set<UUID> known = append(event, event("b").build());

        assertThat(known).containsExactly(event.eventId().orElseThrow());
        assertThat(take(10)).hasSize(2);
    }

    @Test
    final void append_sameIdForAnotherEvent_isRefused() {
        OutboxEvent event = event("a").payload("1").build();
        append(event);
        UUID id = event.eventId().orElseThrow();

        assertThatThrownBy(() -> append(event("a").eventId(id).payload("2").build()))
                .isInstanceOf(StoreException.class);
        assertThatThrownBy(() -> append(event("b").eventId(id).payload("1").build()))
                .isInstanceOf(StoreException.class);
        assertThatThrownBy(() -> append(OutboxEvent.to("other")
                        .eventId(id)
                        .key("a")
                        .payload("1")
                        .build()))
                .isInstanceOf(StoreException.class);
        assertThat(take(10)).hasSize(1);
    }

    @Test
    final void append_delayed_isNotDueBeforeItsTime() {
        append(event("a").delay(Duration.ofMinutes(5)).build());

        assertThat(take(10).stream().filter(row -> row.dueIn().isZero())).isEmpty();
        passTime(Duration.ofMinutes(4));
        assertThat(take(10).stream().filter(row -> row.dueIn().isZero())).isEmpty();
        passTime(Duration.ofMinutes(2));
        assertThat(take(10))
                .hasSize(1)
                .allSatisfy(row -> assertThat(row.dueIn()).isZero());
    }

    @Test
    final void take_moreThanTheLimit_isTheOldestFirst() {
        appendMany(10);

        List<OutboxRow> rows = take(4);

        assertThat(rows).hasSize(4);
        assertThat(sequences(rows)).isSorted();
        assertThat(rows.get(0).event().key().map(key -> new String(key, StandardCharsets.UTF_8)))
                .contains("key-0");
    }

    @Test
    final void take_moreBytesThanTheLimit_endsWithTheRowThatReachesIt() {
        for (int i = 0; i < 6; i++) {
            append(event("key-" + i).payload(new byte[1_000]).build());
        }

        List<OutboxRow> rows = take(new OutboxQuery(0, 100, 2_500, Set.of()));
        release(rows);
        List<OutboxRow> exactly = take(new OutboxQuery(0, 100, 2_000, Set.of()));
        release(exactly);
        List<OutboxRow> one = take(new OutboxQuery(0, 100, 1, Set.of()));

        assertThat(rows).hasSize(3);
        assertThat(exactly).hasSize(2);
        assertThat(one).hasSize(1);
        assertThat(one.get(0).eventId()).isEqualTo(rows.get(0).eventId());
    }

    @Test
    final void take_fromSequence_skipsWhatIsBefore() {
        appendMany(10);
        List<OutboxRow> rows = take(10);
        release(rows);

        List<OutboxRow> rest = take(new OutboxQuery(rows.get(6).sequence(), 10, Set.of()));

        assertThat(ids(rest)).containsExactlyElementsOf(ids(rows.subList(6, 10)));
    }

    /** Gives rows that were taken back as they were. */
    abstract void release(List<OutboxRow> rows);

    @Test
    final void take_withoutTopics_leavesThemOut() {
        append(
                OutboxEvent.to("a").eventId(UUID.randomUUID()).build(),
                OutboxEvent.to("b").eventId(UUID.randomUUID()).build(),
                OutboxEvent.to("c").eventId(UUID.randomUUID()).build());

        List<OutboxRow> rows = take(new OutboxQuery(0, 10, Set.of("a", "c")));

        assertThat(rows).extracting(row -> row.event().topic()).containsExactly("b");
    }

    @Test
    final void publish_isTheEndOfARow() {
        appendMany(3);
        publish(take(10));

        passTime(Duration.ofDays(1));
        assertThat(take(10)).isEmpty();
    }

    @Test
    final void advance_neverPassesAnUnfinishedRow() {
        LowWaterMark mark = LowWaterMark.unknown();
        for (int i = 0; i < 5; i++) {
            appendMany(2);
            mark = store().advance(mark);
        }
        List<OutboxRow> rows = take(10);

        assertThat(mark.firstLive()).isLessThanOrEqualTo(rows.get(0).sequence());
        publish(rows.subList(0, 5));
        for (int i = 0; i < 3; i++) {
            mark = store().advance(mark);
        }
        assertThat(mark.firstLive()).isLessThanOrEqualTo(rows.get(5).sequence());
    }

    @Test
    final void advance_whileAWriterIsOpen_promisesNothingAboveItsRows() {
        LowWaterMark[] mark = {LowWaterMark.unknown()};
        List<OutboxRow> seen = new ArrayList<>();
        try (Crew crew = new Crew(1, DEADLINE)) {
            runner().run(LIMITS, transaction -> {
                store().append(transaction, List.of(event("late").build()));
                crew.elsewhere(() -> append(event("early").build()));
                seen.addAll(crew.elsewhere(() -> take(10)));
                for (int i = 0; i < 3; i++) {
                    mark[0] = crew.elsewhere(() -> store().advance(mark[0]));
                }
                return true;
            });
        }

        assertThat(seen).hasSize(1);
        OutboxRow late = take(10).stream()
                .filter(row -> !row.eventId().equals(seen.get(0).eventId()))
                .findFirst()
                .orElseThrow();
        assertThat(late.sequence()).isLessThan(seen.get(0).sequence());
        assertThat(mark[0].firstLive()).isLessThanOrEqualTo(late.sequence());
        assertThat(mark[0].visibleBelow()).isLessThanOrEqualTo(late.sequence());
    }

    @Test
    final void deletePublished_deletesNothingElse() {
        appendMany(2);
        passTime(Duration.ofDays(30));

        assertThat(store().deletePublished(Duration.ofDays(1), 100)).isZero();
        assertThat(take(10)).hasSize(2);
    }
}
