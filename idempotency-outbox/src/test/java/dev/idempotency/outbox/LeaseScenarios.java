package dev.idempotency.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.PublishOutcome;
import dev.idempotency.spi.PublishOutcome.Kind;
import dev.idempotency.testkit.memory.InMemoryPublisher;
import dev.idempotency.transaction.JoinedTransaction;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What holds for leases alone: sharing, fencing, and the order of keys. One subclass per database. */
abstract class LeaseScenarios extends RelayScenarios {
    @Test
    void leaseShorterThanADelivery_isRefused() {
        InMemoryPublisher slow = InMemoryPublisher.create(Duration.ofSeconds(29));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> OutboxRelay.leasing(store, slow).build())
                .withMessageContaining("PT29S")
                .withMessageContaining("PT30S");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> OutboxRelay.claiming(store, slow).build());
        OutboxRelay.claiming(store, slow).lease(Duration.ofSeconds(32)).build();
    }

    @Test
    void lease_twoRelays_shareTheWork_andOneTakesItAllWhenTheOtherLeaves() {
        start(builder(Mode.LEASE).name("first"));
        await().atMost(DEADLINE).until(() -> held("first") == 16);

        OutboxRelay second = start(builder(Mode.LEASE).name("second"));
        await().atMost(DEADLINE).until(() -> held("first") == 8 && held("second") == 8);
        List<UUID> ids = new ArrayList<>(append("orders", 500));
        awaitNothingLeft();

        second.close();
        ids.addAll(append("orders", 500));
        awaitNothingLeft();
        assertThat(held("first")).isEqualTo(16);
        assertThat(arrivedIds()).containsExactlyInAnyOrderElementsOf(ids);
    }

    private int held(String relay) {
        return database.number("SELECT COUNT(*) FROM outbox_lease WHERE owner LIKE '" + relay + "-%'");
    }

    @Test
    void lease_stolen_marksAreFenced() {
        publisher.hold();
        OutboxRelay relay = start(builder(Mode.LEASE));
        append("orders", 30);
        await().atMost(DEADLINE).until(() -> publisher.held() == 30);

        database.execute("UPDATE outbox_lease SET owner = 'thief', epoch = epoch + 1");
        publisher.letGo();

        await().atMost(DEADLINE).until(() -> relay.statistics().fenced() == 30);
        assertThat(database.count("done_at IS NULL")).isEqualTo(30);
    }

    @Test
    void key_headFails_itsFollowersWait_othersPass() {
        List<UUID> ids = append("orders", 40, number -> "key-" + number % 4);
        UUID head = ids.get(5);
        AtomicInteger refusals = new AtomicInteger();
        publisher.answer(row -> row.eventId().equals(head) && refusals.incrementAndGet() < 3
                ? InMemoryPublisher.failed(Kind.RECORD)
                : new PublishOutcome.Published());

        start(builder(Mode.LEASE));

        awaitNothingLeft();
        assertThat(refusals).hasValue(3);
        assertThat(arrivedIds()).containsExactlyInAnyOrderElementsOf(ids);
        assertInOrder();
    }

    @Test
    void key_headDies_itsFollowersGoOn() {
        List<UUID> ids = append("orders", 40, number -> "key-" + number % 4);
        UUID head = ids.get(5);
        publisher.answer(row ->
                row.eventId().equals(head) ? InMemoryPublisher.failed(Kind.RECORD) : new PublishOutcome.Published());

        start(builder(Mode.LEASE));

        awaitNothingLeft();
        assertThat(arrivedIds()).hasSize(39).doesNotContain(head);
        assertInOrder();
    }

    /** The head dies between two of its followers in one batch: the second must not go before the first. */
    @Test
    void key_headDiesInTheMiddleOfABatch_followersComeInOrder() {
        List<UUID> ids = append("orders", 5, number -> number % 2 == 0 ? "key" : "other-" + number);
        OutboxRelay relay = builder(Mode.LEASE)
                .retry(new RetryPolicy(1, Duration.ofMillis(1), Duration.ofMillis(1)))
                .build();
        relays.add(relay);
        publisher.answer(row -> {
            if (row.eventId().equals(ids.get(0))) {
                return InMemoryPublisher.failed(Kind.RECORD);
            }
            if (row.eventId().equals(ids.get(3))) {
                await().atMost(DEADLINE)
                        .until(() -> relay.statistics().dead() == 1
                                && relay.statistics().inFlight() == 1);
            }
            return new PublishOutcome.Published();
        });
        relay.start();

        awaitNothingLeft();
        assertThat(arrivedIds()).containsExactly(ids.get(1), ids.get(3), ids.get(2), ids.get(4));
    }

    @Test
    void key_brokerFailsAtRandom_orderIsKept() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<Kind> kinds = List.of(Kind.RECORD, Kind.TOPIC, Kind.BROKER);
        publisher.answer(row -> random.nextInt(10) == 0
                ? InMemoryPublisher.failed(kinds.get(random.nextInt(3)))
                : new PublishOutcome.Published());
        OutboxRelay relay = start(builder(Mode.LEASE)
                .batchSize(30)
                .retry(new RetryPolicy(1_000, Duration.ofMillis(1), Duration.ofMillis(5))));
        for (int i = 0; i < 5; i++) {
            append("orders", 60, number -> "key-" + number % 7);
        }

        try {
            awaitNothingLeft();
        } finally {
            System.out.println("seed " + seed + " " + relay.statistics());
        }
        assertThat(publisher.arrived()).hasSize(300);
        assertInSequence();
    }

    /**
     * Two pages are two snapshots: a row that becomes visible between them may come before one of the second page, of
     * the same key, although their writers followed one another.
     */
    @Test
    void key_rowAppearsBehindTheCursor_isNotOvertaken() throws SQLException {
        try (Connection open = database.dataSource().getConnection()) {
            open.setAutoCommit(false);
            Outbox outbox = Outbox.of(store);
            outbox.append(
                    JoinedTransaction.of(open),
                    OutboxEvent.to("orders").key("k").payload("0").build());
            append("orders", 30, number -> "other-" + number);
            publisher.hold();
            start(builder(Mode.LEASE).batchSize(10).maxInFlight(20, 1 << 20));
            // The cursor stands behind the open row now, with no room to go on.
            await().atMost(DEADLINE).until(() -> publisher.held() == 20);
            open.commit();
            outbox.append(
                    JoinedTransaction.of(open),
                    OutboxEvent.to("orders").key("k").payload("1").build());
            open.commit();
            publisher.letGo();

            awaitNothingLeft();
        }

        assertThat(publisher.arrived()).hasSize(32);
        assertInOrder();
    }

    private void assertInOrder() {
        Map<String, Integer> last = new HashMap<>();
        for (OutboxRow row : publisher.arrived()) {
            String key = text(row.event().key().orElseThrow());
            int number = Integer.parseInt(text(row.event().payload().orElseThrow()));
            assertThat(number).as("key " + key).isGreaterThan(last.getOrDefault(key, -1));
            last.put(key, number);
        }
    }

    private void assertInSequence() {
        Map<String, Long> last = new HashMap<>();
        for (OutboxRow row : publisher.arrived()) {
            String key = text(row.event().key().orElseThrow());
            assertThat(row.sequence()).as("key " + key).isGreaterThan(last.getOrDefault(key, -1L));
            last.put(key, row.sequence());
        }
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
