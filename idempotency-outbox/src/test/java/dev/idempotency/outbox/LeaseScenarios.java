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
import dev.idempotency.transaction.TransactionLimits;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

    /** A rolling change: ranges go from hand to hand while events come, nothing twice and every key in order. */
    @Test
    void lease_relaysComeAndGoUnderLoad_nothingTwiceAndInOrder() throws Exception {
        AtomicBoolean writing = new AtomicBoolean(true);
        AtomicInteger appended = new AtomicInteger();
        Thread writer = new Thread(() -> {
            for (int number = 0; writing.get(); number++) {
                int next = number;
                List<OutboxEvent> batch = new ArrayList<>();
                for (int key = 0; key < 40; key++) {
                    batch.add(OutboxEvent.to("orders")
                            .key("key-" + key)
                            .payload(Integer.toString(next))
                            .build());
                }
                database.runner()
                        .run(
                                TransactionLimits.ofDefaults(),
                                transaction -> Outbox.of(store).appendAll(transaction, batch));
                appended.addAndGet(batch.size());
                awaitRoom(appended::get, writing::get);
            }
        });
        List<OutboxRelay> others = new ArrayList<>();
        start(brisk("r0"));
        writer.start();
        for (int relay = 1; relay <= 3; relay++) {
            others.add(start(brisk("r" + relay)));
            // A fair part is rounded up, so the last to come gets what the others leave.
            int share = relay == 1 ? 8 : 4;
            int name = relay;
            await().atMost(DEADLINE).until(() -> held("r" + name) >= share);
        }
        for (OutboxRelay relay : others) {
            assertThat(relay.close(DEADLINE)).isTrue();
        }
        await().atMost(DEADLINE).until(() -> held("r0") == 16);
        writing.set(false);
        writer.join(DEADLINE.toMillis());

        awaitNothingLeft();
        assertThat(arrivedIds()).doesNotHaveDuplicates().hasSize(appended.get());
        assertInOrder();
    }

    /** A lease that is hardly longer than a delivery is renewed twice a second. */
    private LeaseRelayBuilder brisk(String name) {
        return ((LeaseRelayBuilder) builder(Mode.LEASE))
                .lease(Duration.ofSeconds(7))
                .name(name);
    }

    /** A pass that takes as long as it likes must not cost a lease. */
    @Test
    void lease_handingOverTakesLong_theLeaseIsRenewedMeanwhile() throws Exception {
        CountDownLatch sending = new CountDownLatch(1);
        CountDownLatch renewed = new CountDownLatch(1);
        publisher.answer(row -> {
            sending.countDown();
            awaitUninterrupted(renewed);
            return new PublishOutcome.Published();
        });
        List<UUID> ids = append("orders", 1);
        OutboxRelay relay = start(brisk("slow"));
        assertThat(sending.await(DEADLINE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        String before = latestEnd();

        await().atMost(DEADLINE).until(() -> latestEnd().compareTo(before) > 0);

        renewed.countDown();
        awaitNothingLeft();
        assertThat(arrivedIds()).containsExactlyElementsOf(ids);
        assertThat(relay.statistics().fenced()).isZero();
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            assertThat(latch.await(DEADLINE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private String latestEnd() throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT MAX(expires_at) FROM outbox_lease")) {
            rows.next();
            return rows.getTimestamp(1).toInstant().toString();
        }
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

    /**
     * Rows of one key, more than a page holds, wait behind its first, and no low-water mark lets the cursor go on on H2: the
     * other keys come all the same, and this one in its order once its first has gone, either way.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void key_waitingRowsFillThePage_othersPass(boolean dies) {
        UUID head = appendLarge(60).get(0);
        append("orders", 20, number -> "other-" + number);
        publisher.answer(row ->
                row.eventId().equals(head) ? InMemoryPublisher.failed(Kind.RECORD) : new PublishOutcome.Published());
        start(builder(Mode.LEASE)
                .maxInFlight(1_000, 1 << 20)
                .retry(new RetryPolicy(20, Duration.ofHours(1), Duration.ofHours(1))));

        awaitArrived(20);

        assertThat(publisher.arrived())
                .extracting(row -> text(row.event().key().orElseThrow()))
                .doesNotContain("large");
        publisher.recoverBroker();
        database.execute(
                dies
                        ? "UPDATE outbox_event SET status = 'DEAD', done_at = created_at WHERE event_id = '" + head
                                + "'"
                        : "UPDATE outbox_event SET next_attempt_at = NULL");
        awaitNothingLeft();
        assertThat(publisher.arrived()).hasSize(dies ? 79 : 80);
        assertInOrder();
    }

    private List<UUID> appendLarge(int events) {
        List<OutboxEvent> batch = new ArrayList<>();
        for (int number = 0; number < events; number++) {
            batch.add(OutboxEvent.to("orders")
                    .key("large")
                    .payload("0".repeat(100_000) + number)
                    .build());
        }
        return database.runner()
                .run(
                        TransactionLimits.ofDefaults(),
                        transaction -> Outbox.of(store).appendAll(transaction, batch));
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
