package dev.idempotency.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.OutboxEvent;
import dev.idempotency.transaction.JoinedTransaction;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a relay delivers while all is well: every event once, late and delayed ones too. One subclass per database. */
abstract class DeliveryScenarios extends RelayScenarios {
    @ParameterizedTest
    @EnumSource
    void publishesEveryEventOnce(Mode mode) {
        OutboxRelay relay = start(builder(mode));

        List<UUID> ids = append("orders", 2_500);

        awaitNothingLeft();
        assertThat(arrivedIds()).containsExactlyInAnyOrderElementsOf(ids);
        await().atMost(DEADLINE).until(() -> relay.statistics().published() == 2_500);
        assertThat(relay.statistics().fenced()).isZero();
        assertThat(relay.health().status()).isEqualTo(RelayHealth.Status.UP);
        assertThat(database.count("1 = 1")).isEqualTo(mode == Mode.LEASE ? 0 : 2_500);
    }

    /** A read whose snapshot is older than a mark must not bring the marked event again. */
    @ParameterizedTest
    @EnumSource
    void publishesEveryEventOnce_whileManyWriteAndSomeWaitLong(Mode mode) throws Exception {
        start(builder(mode).batchSize(20).maxInFlight(50, 1 << 20));
        Set<UUID> ids = ConcurrentHashMap.newKeySet();
        List<Thread> writers = new ArrayList<>();
        AtomicInteger failures = new AtomicInteger();
        for (int writer = 0; writer < 6; writer++) {
            int seed = writer;
            Thread thread = new Thread(() -> {
                Random random = new Random(seed);
                try {
                    for (int i = 0; i < 40; i++) {
                        database.runner().run(TransactionLimits.ofDefaults(), transaction -> {
                            List<OutboxEvent> events = new ArrayList<>();
                            for (int n = random.nextInt(8); n >= 0; n--) {
                                events.add(OutboxEvent.to("orders").key("k" + n).build());
                            }
                            ids.addAll(Outbox.of(store).appendAll(transaction, events));
                            if (random.nextInt(4) == 0) {
                                LockSupport.parkNanos(random.nextInt(20_000_000));
                            }
                            return true;
                        });
                    }
                } catch (RuntimeException e) {
                    failures.incrementAndGet();
                }
            });
            writers.add(thread);
            thread.start();
        }
        for (Thread writer : writers) {
            writer.join(DEADLINE.toMillis());
        }

        awaitNothingLeft();
        assertThat(failures).hasValue(0);
        assertThat(arrivedIds()).containsExactlyInAnyOrderElementsOf(ids);
    }

    @ParameterizedTest
    @EnumSource
    void nudge_endsALongWait(Mode mode) {
        OutboxRelay relay = start(builder(mode).poll(Duration.ofMinutes(5), Duration.ofMinutes(5)));
        Outbox outbox = Outbox.builder(store).afterCommit(relay::nudge).build();
        // The relay comes to rest only after it has its leases and has found nothing.
        await().atMost(DEADLINE).until(() -> {
            database.runner()
                    .run(
                            TransactionLimits.ofDefaults(),
                            transaction -> outbox.append(
                                    transaction, OutboxEvent.to("orders").build()));
            return !publisher.arrived().isEmpty();
        });
        awaitNothingLeft();
        int before = publisher.arrived().size();

        database.runner()
                .run(
                        TransactionLimits.ofDefaults(),
                        transaction -> outbox.append(
                                transaction, OutboxEvent.to("orders").build()));

        awaitArrived(before + 1);
    }

    @ParameterizedTest
    @EnumSource
    void pause_holdsOneTopicBack(Mode mode) {
        OutboxRelay relay = builder(mode).build();
        relays.add(relay);
        relay.pause("paused");
        relay.start();
        append("paused", 10);
        append("orders", 10);

        awaitArrived(10);
        assertThat(publisher.arrived())
                .allSatisfy(row -> assertThat(row.event().topic()).isEqualTo("orders"));

        relay.resume("paused");
        awaitArrived(20);
    }

    @ParameterizedTest
    @EnumSource
    void delayedEvent_waitsForItsTime(Mode mode) {
        start(builder(mode));
        database.runner()
                .run(
                        TransactionLimits.ofDefaults(),
                        transaction -> Outbox.of(store)
                                .appendAll(
                                        transaction,
                                        List.of(
                                                OutboxEvent.to("later")
                                                        .delay(Duration.ofMillis(700))
                                                        .build(),
                                                OutboxEvent.to("now").build())));
        long appended = System.nanoTime();

        awaitArrived(2);

        assertThat(publisher.arrived()).extracting(row -> row.event().topic()).containsExactly("now", "later");
        assertThat(System.nanoTime() - appended).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(600));
    }

    /** What a restored backup, or a sequence that was set back, leaves: a row below the number that everybody has passed. */
    @ParameterizedTest
    @EnumSource
    void rowBelowTheLowWaterMark_isFoundWithinAMinute(Mode mode) {
        AtomicLong passed = new AtomicLong();
        start(builder(mode).ticker(() -> System.nanoTime() + passed.get()));
        for (int i = 0; i < 5; i++) {
            append("orders", 10);
            awaitArrived((i + 1) * 10);
            awaitNothingLeft();
            passed.addAndGet(Duration.ofSeconds(1).toNanos());
        }
        UUID late = UUID.randomUUID();
        database.execute("INSERT INTO outbox_event (seq, event_id, bucket, topic) OVERRIDING SYSTEM VALUE VALUES (1, '"
                + late + "', 0, 'orders')");

        passed.addAndGet(Duration.ofSeconds(61).toNanos());

        awaitArrived(51);
        assertThat(arrivedIds()).contains(late);
        awaitNothingLeft();
    }

    @ParameterizedTest
    @EnumSource
    void commitInversion_theLateRowIsNotLost(Mode mode) throws SQLException {
        start(builder(mode));
        try (Connection open = database.dataSource().getConnection()) {
            open.setAutoCommit(false);
            UUID late = Outbox.of(store)
                    .append(
                            JoinedTransaction.of(open),
                            OutboxEvent.to("orders").key("late").build());
            List<UUID> early = append("orders", 50);
            awaitArrived(50);
            assertThat(arrivedIds()).containsExactlyInAnyOrderElementsOf(early);
            for (int i = 0; i < 3; i++) {
                append("orders", 10);
            }
            awaitArrived(80);

            open.commit();

            awaitArrived(81);
            assertThat(arrivedIds()).contains(late);
        }
        awaitNothingLeft();
    }
}
