package dev.idempotency.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.StoreConflictException;
import dev.idempotency.spi.EventHeader;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.ParkedEvent;
import dev.idempotency.spi.ParkedEventStore;
import dev.idempotency.testkit.fault.Gate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What every {@link ParkedEventStore} must do; a store's test inherits it and says how to reach the store. */
public abstract class ParkedEventStoreContract extends ProcessedEventStoreContract {
    private static final Instant WHEN = Instant.parse("2025-11-30T23:59:59.123Z");

    private final EventPartition partition = new EventPartition("orders", UUID.randomUUID(), 3);

    /** For subclasses. */
    protected ParkedEventStoreContract() {}

    @Override
    protected abstract ParkedEventStore store();

    private ParkedEvent event(long offset, String value) {
        return new ParkedEvent(
                EventId.of("event-" + offset),
                partition,
                offset,
                "key".getBytes(UTF_8),
                value.getBytes(UTF_8),
                List.of(),
                WHEN,
                5,
                "because");
    }

    private void park(ParkedEvent event) {
        inTransaction(transaction -> {
            store().park(transaction, consumer, event);
            return true;
        });
    }

    private List<ParkedEvent> parked() {
        return store().findParked(consumer, null, 100);
    }

    @Test
    @SuppressWarnings("NullAway") // on JDK 17 it does not see in a class file that an array may be null
    void park_everyPart_isKept() {
        byte[] value = new byte[300_000];
        for (int i = 0; i < value.length; i++) {
            value[i] = (byte) i;
        }
        ParkedEvent whole = new ParkedEvent(
                EventId.of("Zoë/ΑΒΓ 1"),
                partition,
                5_000_000_000L,
                new byte[] {0, -1, 10},
                value,
                List.of(
                        new EventHeader("trace", new byte[] {1, 0, -1}),
                        new EventHeader("trace", new byte[0]),
                        new EventHeader("nothing", null),
                        new EventHeader("", "größe".getBytes(UTF_8))),
                WHEN,
                Integer.MAX_VALUE,
                "Zoë's reason".repeat(200));
        ParkedEvent bare = new ParkedEvent(
                EventId.of(UUID.randomUUID()), partition, 0, null, null, List.of(), Instant.EPOCH, 0, "");
        park(whole);
        park(bare);

        assertThat(parked()).containsExactly(bare, whole);
    }

    /** A time is what a producer says, and brokers take any: nanoseconds for milliseconds, say. */
    @Test
    void park_timeBeyondAllCalendars_isParkedAllTheSame() {
        for (long millis : new long[] {Long.MAX_VALUE, Long.MIN_VALUE}) {
            park(new ParkedEvent(
                    EventId.of("event-1"),
                    partition,
                    1,
                    new byte[0],
                    new byte[0],
                    List.of(),
                    Instant.ofEpochMilli(millis),
                    1,
                    "because of " + millis));

            assertThat(parked()).singleElement().extracting(ParkedEvent::reason).isEqualTo("because of " + millis);
        }
    }

    @Test
    void park_rolledBack_leavesNothing() {
        inTransaction(transaction -> {
            store().park(transaction, consumer, event(1, "one"));
            transaction.setRollbackOnly();
            return true;
        });

        assertThat(parked()).isEmpty();
    }

    @Test
    void park_samePlaceAgain_isReplaced() {
        park(event(1, "before"));
        park(event(1, "after"));

        assertThat(parked()).containsExactly(event(1, "after"));
    }

    @Test
    void park_doesNotMark() {
        park(event(1, "one"));

        assertThat(isFresh(event(1, "one").id())).isTrue();
    }

    @Test
    void findParked_isInOrderAndLimited() {
        for (long offset : new long[] {3, 1, 2}) {
            park(event(offset, "value"));
        }

        assertThat(store().findParked(consumer, null, 2)).containsExactly(event(1, "value"), event(2, "value"));
        assertThatIllegalArgumentException().isThrownBy(() -> store().findParked(consumer, null, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> store().findParked(consumer, null, 1_001));
    }

    @Test
    void findParked_pageAfterPage_givesEachEventOnce() {
        EventPartition first = new EventPartition("orders", new UUID(1, 1), 0);
        EventPartition second = new EventPartition("orders", new UUID(1, 1), 2);
        EventPartition third = new EventPartition("invoices", new UUID(-1, 1), 1);
        List<ParkedEvent> all = new ArrayList<>();
        for (EventPartition each : List.of(first, second, third)) {
            for (long offset : new long[] {0, 7, 5_000_000_000L}) {
                all.add(event(each, offset, "key"));
            }
        }
        all.forEach(this::park);

        List<ParkedEvent> found = new ArrayList<>();
        List<ParkedEvent> page = store().findParked(consumer, null, 2);
        while (!page.isEmpty() && found.size() <= all.size()) {
            found.addAll(page);
            page = store().findParked(consumer, page.get(page.size() - 1), 2);
        }

        assertThat(found).isEqualTo(all);
    }

    @Test
    void findParked_afterAnEventThatIsGone_goesOnBehindItsPlace() {
        park(event(1, "one"));
        park(event(3, "three"));

        assertThat(store().findParked(consumer, event(2, "gone"), 10)).containsExactly(event(3, "three"));
    }

    @Test
    @SuppressWarnings("NullAway") // on JDK 17 it does not see in a class file that an array may be null
    void findParkedKeys_ofThePartition_eachOnce() {
        park(event(1, "one"));
        park(event(2, "two"));
        park(event(partition, 3, "other key"));
        park(new ParkedEvent(
                EventId.of("event-4"), partition, 4, null, null, List.of(), Instant.EPOCH, 0, "has no key"));
        park(event(new EventPartition("orders", partition.topicId(), 4), 5, "key of another partition"));

        assertThat(store().findParkedKeys(consumer, partition, 10))
                .extracting(key -> new String(key, UTF_8))
                .containsExactlyInAnyOrder("key", "other key");
        assertThat(store().findParkedKeys(consumer, partition, 1)).hasSize(1);
    }

    /** Some databases compare the first bytes of a long value alone where they sort or group. */
    @Test
    void findParkedKeys_longOnesThatDifferInTheirEnd_areAllThere() {
        String begin = "k".repeat(5_000);
        park(event(partition, 1, begin + "1"));
        park(event(partition, 2, begin + "2"));

        assertThat(store().findParkedKeys(consumer, partition, 10))
                .extracting(key -> new String(key, UTF_8))
                .containsExactlyInAnyOrder(begin + "1", begin + "2");
        assertThat(firstParked(begin + "2")).hasValue(2);
    }

    @Test
    void lockFirstParked_severalOfTheKey_givesTheFirst() {
        park(event(partition, 1, "other key"));
        park(event(partition, 2, "key"));
        park(event(partition, 3, "key"));

        assertThat(firstParked("key")).hasValue(2);
        assertThat(firstParked("KEY")).isEmpty();
        assertThat(firstParked("key ")).isEmpty();
    }

    @Test
    void lockFirstParked_whileTheFirstIsReplayed_isNeverToldThatItIsStillParked() {
        park(event(1, "one"));
        Gate removed = new Gate();
        try (Crew crew = new Crew(2, deadline())) {
            List<String> told = crew.together(member -> {
                if (member == 0) {
                    inTransaction(transaction -> {
                        store().lockParked(transaction, consumer, partition, 1);
                        store().unpark(transaction, consumer, partition, 1);
                        removed.pass();
                        return true;
                    });
                    return "replayed";
                }
                removed.awaitReached(deadline());
                String early = firstParkedOrRefused();
                removed.open();
                return early;
            });
            assertThat(told).containsExactly("replayed", "refused");
        }
        assertThat(firstParked("key")).isEmpty();
    }

    private String firstParkedOrRefused() {
        try {
            return firstParked("key").isPresent() ? "parked" : "gone";
        } catch (StoreConflictException e) {
            return "refused";
        }
    }

    private OptionalLong firstParked(String key) {
        return inTransaction(
                transaction -> store().lockFirstParked(transaction, consumer, partition, key.getBytes(UTF_8)));
    }

    private static ParkedEvent event(EventPartition partition, long offset, String key) {
        return new ParkedEvent(
                EventId.of("event-" + offset),
                partition,
                offset,
                key.getBytes(UTF_8),
                new byte[0],
                List.of(),
                WHEN,
                5,
                "because");
    }

    @Test
    void findParked_otherConsumer_standsApart() {
        ConsumerId other = ConsumerId.of(consumer.value() + " other");
        store().register(other);
        park(event(1, "one"));

        assertThat(store().findParked(other, null, 10)).isEmpty();
    }

    @Test
    void lockParked_present_givesIt() {
        park(event(1, "one"));

        Optional<ParkedEvent> found =
                inTransaction(transaction -> store().lockParked(transaction, consumer, partition, 1));

        assertThat(found).contains(event(1, "one"));
        assertThat(parked()).hasSize(1);
    }

    @Test
    void lockParked_absent_isEmpty() {
        Optional<ParkedEvent> found =
                inTransaction(transaction -> store().lockParked(transaction, consumer, partition, 1));

        assertThat(found).isEmpty();
    }

    @Test
    void unpark_committed_removes() {
        park(event(1, "one"));
        park(event(2, "two"));

        boolean removed = inTransaction(transaction -> store().unpark(transaction, consumer, partition, 1));
        boolean again = inTransaction(transaction -> store().unpark(transaction, consumer, partition, 1));

        assertThat(removed).isTrue();
        assertThat(again).isFalse();
        assertThat(parked()).containsExactly(event(2, "two"));
    }

    @Test
    void unpark_rolledBack_keeps() {
        park(event(1, "one"));

        inTransaction(transaction -> {
            store().unpark(transaction, consumer, partition, 1);
            transaction.setRollbackOnly();
            return true;
        });

        assertThat(parked()).hasSize(1);
    }

    @Test
    void lockParked_whileAnotherReplays_waitsForItOrRefuses() {
        String effect = partition.topicId() + "@1";
        park(event(1, "one"));
        Gate locked = new Gate();
        try (Crew crew = new Crew(2, deadline())) {
            List<Boolean> ran = crew.together(member -> {
                if (member == 0) {
                    return replay(1, effect, locked::pass);
                }
                locked.awaitReached(deadline());
                boolean early = replayOrRefused(effect);
                locked.open();
                return early;
            });
            assertThat(ran).containsExactly(true, false);
        }
        assertThat(countEffects(effect)).isEqualTo(1);
    }

    private boolean replayOrRefused(String effect) {
        try {
            return replay(1, effect, () -> {});
        } catch (StoreConflictException e) {
            return false;
        }
    }

    @Test
    void race_replays_runOnce() {
        int rounds = TestSize.rounds(10);
        try (Crew crew = new Crew(4, deadline())) {
            for (int round = 0; round < rounds; round++) {
                long offset = round;
                String effect = partition.topicId() + "@" + offset;
                park(event(offset, "value"));
                List<Boolean> ran = crew.together(member -> repeatingConflicts(() -> replay(offset, effect, () -> {})));
                assertThat(ran).containsOnlyOnce(true);
                assertThat(countEffects(effect)).isEqualTo(1);
            }
        }
        assertThat(parked()).isEmpty();
    }

    private boolean replay(long offset, String effect, Runnable whenLocked) {
        return inTransaction(transaction -> {
            boolean present =
                    store().lockParked(transaction, consumer, partition, offset).isPresent();
            whenLocked.run();
            if (present) {
                addEffect(transaction, effect);
                store().unpark(transaction, consumer, partition, offset);
            }
            return present;
        });
    }
}
