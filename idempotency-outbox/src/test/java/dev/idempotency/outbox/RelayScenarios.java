package dev.idempotency.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idempotency.OutboxEvent;
import dev.idempotency.jdbi.JdbiOutboxStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Reason;
import dev.idempotency.spi.OutboxEntry;
import dev.idempotency.spi.OutboxFilter;
import dev.idempotency.spi.OutboxPublisher;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.PublishCallback;
import dev.idempotency.spi.PublishOutcome;
import dev.idempotency.spi.PublishOutcome.Kind;
import dev.idempotency.testkit.fault.Fault;
import dev.idempotency.testkit.fault.FaultInjectingDataSource;
import dev.idempotency.testkit.fault.JdbcPoint;
import dev.idempotency.testkit.memory.InMemoryPublisher;
import dev.idempotency.transaction.JoinedTransaction;
import dev.idempotency.transaction.TransactionLimits;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a relay does in good and bad times, on a real database and with a broker in memory; one subclass per database. */
abstract class RelayScenarios {
    private static final Duration DEADLINE = Duration.ofSeconds(60);

    private final List<OutboxRelay> relays = new ArrayList<>();
    private final InMemoryPublisher publisher = InMemoryPublisher.create(Duration.ofSeconds(4));
    private OutboxDatabase database;
    private JdbiOutboxStore store;

    abstract OutboxDatabase open();

    /** How a relay takes its events. */
    enum Mode {
        LEASE,
        CLAIM,
        LOCK
    }

    @BeforeEach
    void openDatabase() {
        database = open();
        store = database.store();
    }

    @AfterEach
    void closeAll() throws Exception {
        publisher.recoverBroker();
        publisher.letGo();
        relays.forEach(OutboxRelay::close);
        database.close();
    }

    private RelayBuilder<?> builder(Mode mode) {
        return builder(mode, store, database.dataSource());
    }

    private RelayBuilder<?> builder(Mode mode, JdbiOutboxStore on, DataSource dataSource) {
        RelayBuilder<?> builder = switch (mode) {
            case LEASE -> OutboxRelay.leasing(on, publisher);
            case CLAIM -> OutboxRelay.claiming(on, publisher);
            case LOCK -> OutboxRelay.locking(on, JdbiTransactionRunner.of(dataSource), publisher);
        };
        return builder.poll(Duration.ofMillis(5), Duration.ofMillis(50))
                .retry(new RetryPolicy(3, Duration.ofMillis(20), Duration.ofMillis(100)));
    }

    private OutboxRelay start(RelayBuilder<?> builder) {
        OutboxRelay relay = builder.build();
        relays.add(relay);
        relay.start();
        return relay;
    }

    private List<UUID> append(String topic, int events) {
        return append(topic, events, number -> "key-" + number);
    }

    private List<UUID> append(String topic, int events, IntFunction<String> key) {
        List<OutboxEvent> batch = new ArrayList<>();
        for (int number = 0; number < events; number++) {
            batch.add(OutboxEvent.to(topic)
                    .key(key.apply(number))
                    .payload(Integer.toString(number))
                    .build());
        }
        return database.runner()
                .run(
                        TransactionLimits.ofDefaults(),
                        transaction -> Outbox.of(store).appendAll(transaction, batch));
    }

    private void awaitArrived(int events) {
        await().atMost(DEADLINE).until(() -> publisher.arrived().size() >= events);
    }

    private List<UUID> arrivedIds() {
        return publisher.arrived().stream().map(OutboxRow::eventId).toList();
    }

    private void awaitNothingLeft() {
        await().atMost(DEADLINE).until(() -> database.count("done_at IS NULL") == 0);
    }

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
    void recordFailure_isTriedAgainThenDead_andHoldsUpNobody(Mode mode) {
        List<UUID> ids = append("orders", 20);
        UUID poison = ids.get(3);
        publisher.answer(row ->
                row.eventId().equals(poison) ? InMemoryPublisher.failed(Kind.RECORD) : new PublishOutcome.Published());

        OutboxRelay relay = start(builder(mode));

        awaitNothingLeft();
        assertThat(arrivedIds()).hasSize(19).doesNotContain(poison);
        assertThat(database.count("status = 'DEAD' AND attempts = 3 AND last_error LIKE '%Injected%'"))
                .isOne();
        assertThat(relay.statistics().recordFailures()).isEqualTo(3);
        assertThat(relay.statistics().dead()).isOne();
    }

    @ParameterizedTest
    @EnumSource
    void brokerDown_nothingCounts_andEverythingComesAfterwards(Mode mode) {
        publisher.failWith(Kind.BROKER);
        List<UUID> ids = append("orders", 200);
        OutboxRelay relay = start(builder(mode));
        await().atMost(DEADLINE).until(() -> relay.statistics().brokerFailures() >= 5);
        assertThat(relay.health().status()).isEqualTo(RelayHealth.Status.DEGRADED);
        ids = new ArrayList<>(ids);
        ids.addAll(append("orders", 50));

        publisher.recoverBroker();

        awaitNothingLeft();
        assertThat(arrivedIds()).containsExactlyInAnyOrderElementsOf(ids);
        assertThat(database.count("status = 'DEAD' OR attempts > 0")).isZero();
        assertThat(relay.health().status()).isEqualTo(RelayHealth.Status.UP);
    }

    @ParameterizedTest
    @EnumSource
    void topicFails_othersGoOn(Mode mode) {
        publisher.answer(row -> row.event().topic().equals("forbidden")
                ? InMemoryPublisher.failed(Kind.TOPIC)
                : new PublishOutcome.Published());
        List<UUID> waiting = append("forbidden", 30);
        append("allowed", 30);
        OutboxRelay relay = start(builder(mode));

        awaitArrived(30);
        await().atMost(DEADLINE).until(() -> relay.statistics().topicFailures() >= 3);
        assertThat(relay.health().failingTopics()).containsExactly("forbidden");
        assertThat(publisher.arrived())
                .allSatisfy(row -> assertThat(row.event().topic()).isEqualTo("allowed"));

        publisher.recoverBroker();
        awaitNothingLeft();
        assertThat(arrivedIds()).hasSize(60).containsAll(waiting);
        assertThat(database.count("status = 'DEAD' OR attempts > 0")).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void publisherLost_isReplacedOnceWhatIsUnderWayIsAnswered(Mode mode) {
        AtomicInteger sends = new AtomicInteger();
        publisher.answer(row -> sends.incrementAndGet() >= 5 && publisher.recoveries() == 0
                ? InMemoryPublisher.failed(Kind.FATAL)
                : new PublishOutcome.Published());
        List<UUID> ids = append("orders", 100);
        OutboxRelay relay = start(builder(mode));

        awaitNothingLeft();
        assertThat(arrivedIds()).containsExactlyInAnyOrderElementsOf(ids);
        assertThat(publisher.recoveries()).isEqualTo(1);
        assertThat(relay.statistics().fatalFailures()).isPositive();
    }

    @ParameterizedTest
    @EnumSource
    void publisherThrows_theEventIsTriedAgain(Mode mode) {
        AtomicInteger sends = new AtomicInteger();
        publisher.answer(row -> {
            if (sends.incrementAndGet() == 3) {
                throw new IllegalStateException("Injected by the test");
            }
            return new PublishOutcome.Published();
        });
        List<UUID> ids = append("orders", 10);
        start(builder(mode));

        awaitNothingLeft();
        assertThat(new HashSet<>(arrivedIds())).containsExactlyInAnyOrderElementsOf(ids);
    }

    /** A relay whose thread has died publishes nothing ever again. */
    @ParameterizedTest
    @EnumSource
    void publisherThrowsAnError_relayGoesOn(Mode mode) {
        AtomicInteger sends = new AtomicInteger();
        publisher.answer(row -> {
            if (sends.incrementAndGet() == 3) {
                throw new StackOverflowError("Injected by the test");
            }
            return new PublishOutcome.Published();
        });
        List<UUID> ids = append("orders", 10);
        start(builder(mode));

        awaitNothingLeft();
        assertThat(new HashSet<>(arrivedIds())).containsExactlyInAnyOrderElementsOf(ids);
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

    @ParameterizedTest
    @EnumSource
    void drain_waitsForAnswers_andLeavesNothingClaimed(Mode mode) {
        publisher.hold();
        OutboxRelay relay = start(builder(mode).batchSize(50).maxInFlight(20, 1 << 20));
        append("orders", 100);
        await().atMost(DEADLINE).until(() -> publisher.held() == 20);

        assertThat(relay.drain(Duration.ofMillis(100))).isFalse();
        publisher.letGo();
        assertThat(relay.drain(DEADLINE)).isTrue();

        assertThat(publisher.arrived()).hasSize(20);
        assertThat(database.count("status = 'PUBLISHING'")).isZero();
        assertThat(database.count("status = 'PENDING' AND attempts = 0")).isEqualTo(80);
        assertThat(relay.close(DEADLINE)).isTrue();
        assertThat(relay.close(Duration.ofMillis(1))).isTrue();
        assertThat(relay.health().status()).isEqualTo(RelayHealth.Status.STOPPED);
        start(builder(mode));
        awaitNothingLeft();
        assertThat(new HashSet<>(arrivedIds())).hasSize(100);
        assertThat(publisher.arrived()).hasSize(100);
    }

    @ParameterizedTest
    @EnumSource
    void gracefulShutdown_finishesWhatWasSent(Mode mode) throws Exception {
        GracefulShutdown shutdown = GracefulShutdown.ofDefaults();
        publisher.hold();
        OutboxRelay relay = start(builder(mode).maxInFlight(20, 1 << 20).shutdown(shutdown));
        append("orders", 100);
        await().atMost(DEADLINE).until(() -> publisher.held() == 20);

        var done = shutdown.shutdown(new Reason("test")).toCompletableFuture();
        publisher.letGo();

        assertThat(done.get(60, TimeUnit.SECONDS).clean()).isTrue();
        assertThat(relay.health().status()).isEqualTo(RelayHealth.Status.STOPPED);
        assertThat(database.count("status = 'PUBLISHING'")).isZero();
        assertThat(database.count("status = 'PENDING'"))
                .isEqualTo(100 - publisher.arrived().size());
        assertThat(database.number("SELECT COUNT(*) FROM outbox_lease WHERE owner IS NOT NULL"))
                .isZero();
    }

    @ParameterizedTest
    @EnumSource
    void databaseFailsForAWhile_relayGoesOn(Mode mode) {
        FaultInjectingDataSource faulty = FaultInjectingDataSource.wrap(database.dataSource());
        RelayBuilder<?> builder = builder(mode, JdbiOutboxStore.of(faulty), faulty);
        if (builder instanceof ClaimRelayBuilder claiming) {
            // A claim whose answer was lost has to end before anybody sends its rows.
            claiming.lease(Duration.ofSeconds(7));
        }
        OutboxRelay relay = start(builder);
        List<UUID> ids = new ArrayList<>(append("orders", 50));
        awaitArrived(50);

        for (JdbcPoint point : List.of(JdbcPoint.BEFORE_COMMIT, JdbcPoint.AFTER_COMMIT, JdbcPoint.BEFORE_COMMIT)) {
            faulty.inject(point, Fault.cut());
            ids.addAll(append("orders", 50));
            await().atMost(DEADLINE).until(() -> new HashSet<>(arrivedIds()).size() == ids.size());
        }

        awaitNothingLeftExceptClaimed(mode);
        assertThat(new HashSet<>(arrivedIds())).containsExactlyInAnyOrderElementsOf(ids);
        assertThat(relay.health().status()).isEqualTo(RelayHealth.Status.UP);
    }

    /** A claim whose answer was lost belongs to nobody until its lease has ended. */
    private void awaitNothingLeftExceptClaimed(Mode mode) {
        if (mode != Mode.CLAIM) {
            awaitNothingLeft();
        }
    }

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
    void lock_longDeliveriesOrLargeBatches_areRefused() {
        InMemoryPublisher slow = InMemoryPublisher.create(Duration.ofMillis(10_001));

        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        OutboxRelay.locking(store, database.runner(), slow).build())
                .withMessageContaining("PT10.001S")
                .withMessageContaining("Shorten");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> OutboxRelay.locking(store, database.runner(), publisher)
                        .batchSize(1_001)
                        .build())
                .withMessageContaining("1001");
    }

    /** Neither a lease nor a clock is involved: what ends the transaction frees the rows. */
    @Test
    void lock_transactionIsKilledWhileItsRowsAreSent_othersTakeThemAtOnce() {
        append("orders", 10);
        publisher.hold();
        OutboxRelay victim = start(builder(Mode.LOCK));
        await().atMost(DEADLINE).until(() -> publisher.held() == 10);
        start(builder(Mode.LOCK));

        database.killSessions();

        await().atMost(DEADLINE).until(() -> publisher.held() >= 20);
        publisher.letGo();
        awaitNothingLeft();
        await().atMost(DEADLINE).until(() -> victim.statistics().failedPasses() >= 1);
        assertThat(new HashSet<>(arrivedIds())).hasSize(10);
        assertThat(database.count("attempts > 0 OR status <> 'PUBLISHED'")).isZero();
    }

    @Test
    void lock_answerDoesNotCome_theOthersAreMarked() {
        InMemoryPublisher silent = InMemoryPublisher.create(Duration.ofMillis(200));
        List<UUID> ids = append("orders", 5);
        AtomicInteger calls = new AtomicInteger();
        OutboxPublisher forgetful = new OutboxPublisher() {
            @Override
            public void publish(OutboxRow row, PublishCallback callback) {
                if (!row.eventId().equals(ids.get(2)) || calls.incrementAndGet() > 1) {
                    silent.publish(row, callback);
                }
            }

            @Override
            public Duration deliveryTimeout() {
                return silent.deliveryTimeout();
            }

            @Override
            public void recover() {}

            @Override
            public void close() {}
        };

        start(OutboxRelay.locking(store, database.runner(), forgetful));

        awaitNothingLeft();
        assertThat(silent.arrived()).hasSize(5);
        assertThat(silent.arrived().get(4).eventId()).isEqualTo(ids.get(2));
    }

    /** The relay has left the rows' numbers behind long ago. */
    @ParameterizedTest
    @EnumSource
    void requeuedByHand_isPublishedByARunningRelay(Mode mode) {
        List<UUID> ids = append("orders", 5, number -> "key");
        publisher.failWith(Kind.RECORD);
        OutboxRelay relay = start(builder(mode).retry(new RetryPolicy(1, Duration.ofMillis(1), Duration.ofMillis(1))));
        await().atMost(DEADLINE).until(() -> database.count("status = 'DEAD'") == 5);
        publisher.recoverBroker();
        append("orders", 20);
        awaitArrived(20);
        awaitNothingLeft();

        OutboxAdministration administration = OutboxAdministration.of(store);
        assertThat(administration.requeue(OutboxFilter.ofTopics("orders"))).isEqualTo(5);

        awaitArrived(25);
        assertThat(arrivedIds().subList(20, 25)).containsExactlyInAnyOrderElementsOf(ids);
        awaitNothingLeft();
        assertThat(administration.discard(OutboxFilter.all())).isZero();
        assertThat(administration.backlog().atMost()).isZero();
        assertThat(relay.statistics().dead()).isEqualTo(5);
    }

    @Test
    void skippedByHand_letsItsKeyGoOn() {
        List<UUID> ids = append("orders", 3, number -> "key");
        publisher.answer(row -> row.eventId().equals(ids.get(0))
                ? InMemoryPublisher.failed(Kind.RECORD)
                : new PublishOutcome.Published());
        start(builder(Mode.LEASE).retry(new RetryPolicy(5, Duration.ofHours(1), Duration.ofHours(1))));
        await().atMost(DEADLINE).until(() -> database.count("attempts = 1") == 1);
        OutboxAdministration administration = OutboxAdministration.of(store);
        assertThat(administration.find(OutboxEntry.Status.PENDING, OutboxFilter.all(), 10))
                .hasSize(3);

        assertThat(administration.skip(OutboxFilter.ofEvents(ids.get(0)), "wrong address"))
                .isOne();

        awaitArrived(2);
        assertThat(arrivedIds()).containsExactlyElementsOf(ids.subList(1, 3));
    }

    @Test
    void claimsReleasedByHand_areTakenByOthersAtOnce() {
        append("orders", 3);
        store.claim("gone", Duration.ofHours(1), new OutboxQuery(0, 3, Set.of()));
        start(builder(Mode.CLAIM));

        assertThat(OutboxAdministration.of(store).releaseClaims("gone")).isEqualTo(3);

        awaitArrived(3);
    }

    @Test
    void start_twice_isRefused() {
        OutboxRelay relay = start(builder(Mode.CLAIM));

        assertThatThrownBy(relay::start).isInstanceOf(IllegalStateException.class);
        relay.close();
        assertThatThrownBy(relay::start).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void close_neverStarted_isDrained() {
        assertThat(builder(Mode.LEASE).build().close(Duration.ofSeconds(5))).isTrue();
    }

    @Test
    void claim_crashedRelay_rowsAreTakenOnceTheLeaseHasEnded() {
        append("orders", 10);
        store.claim("crashed", Duration.ofSeconds(2), new OutboxQuery(0, 4, Set.of()));

        start(builder(Mode.CLAIM));

        awaitArrived(6);
        awaitArrived(10);
        awaitNothingLeft();
        assertThat(database.count("crashes = 1 AND attempts = 0")).isEqualTo(4);
    }

    @Test
    void cleanUp_returnsStuckRowsAndDeletesOldOnes() throws InterruptedException {
        append("orders", 10);
        store.claim("crashed", Duration.ofSeconds(1), new OutboxQuery(0, 4, Set.of()));
        OutboxCleanUp cleanUp = OutboxCleanUp.builder(store)
                .interval(Duration.ofMillis(20))
                .retention(Duration.ofMillis(1))
                .build();
        try (cleanUp) {
            cleanUp.start();
            await().atMost(DEADLINE).until(() -> database.count("status = 'PENDING'") == 10);
            assertThat(database.count("crashes = 1")).isEqualTo(4);

            start(builder(Mode.CLAIM));

            await().atMost(DEADLINE).until(() -> database.count("1 = 1") == 0);
        }
        assertThat(publisher.arrived()).hasSize(10);
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
