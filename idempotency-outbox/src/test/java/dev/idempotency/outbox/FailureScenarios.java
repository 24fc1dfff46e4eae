package dev.idempotency.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.StoreUnavailableException;
import dev.idempotency.jdbi.JdbiOutboxStore;
import dev.idempotency.spi.PublishOutcome;
import dev.idempotency.spi.PublishOutcome.Kind;
import dev.idempotency.testkit.fault.Fault;
import dev.idempotency.testkit.fault.FaultInjectingDataSource;
import dev.idempotency.testkit.fault.JdbcPoint;
import dev.idempotency.testkit.memory.InMemoryPublisher;
import java.lang.reflect.Proxy;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a relay does when an event, a topic, the broker, its client or the database fails. One subclass per database. */
abstract class FailureScenarios extends RelayScenarios {
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

    /** Whoever else writes to the table, with another library or by hand, must not stop what stands behind it. */
    @ParameterizedTest
    @EnumSource
    void rowThatCannotBeRead_dies_andHoldsUpNobody(Mode mode) {
        List<UUID> ids = append("orders", 20, number -> "key");
        database.execute("UPDATE outbox_event SET headers = 'no tab' WHERE event_id = '" + ids.get(3) + "'");
        database.execute("UPDATE outbox_event SET topic = 'no topic' WHERE event_id = '" + ids.get(7) + "'");
        database.execute("UPDATE outbox_event SET ordering_key = ' ' WHERE event_id = '" + ids.get(9) + "'");

        OutboxRelay relay = start(builder(mode));

        awaitNothingLeft();
        assertThat(arrivedIds()).hasSize(17).doesNotContain(ids.get(3), ids.get(7), ids.get(9));
        assertThat(database.count("status = 'DEAD' AND attempts = 1 AND last_error LIKE '%cannot be read%'"))
                .isEqualTo(3);
        assertThat(relay.statistics().dead()).isEqualTo(3);
        assertThat(relay.health().status()).isEqualTo(RelayHealth.Status.UP);
    }

    /** Nobody knows whether the mark is committed: the events may go again, with the same ids, and none is lost. */
    @ParameterizedTest
    @EnumSource
    void connectionDiesAtTheMarksCommit_nothingIsLost(Mode mode) {
        for (JdbcPoint point : List.of(JdbcPoint.BEFORE_COMMIT, JdbcPoint.AFTER_COMMIT)) {
            FaultInjectingDataSource faulty = FaultInjectingDataSource.wrap(database.dataSource());
            AtomicInteger marks = new AtomicInteger();
            RelayBuilder<?> builder = builder(mode, JdbiOutboxStore.of(faulty), faulty, step -> {
                if (step.equals("outbox.marking") && marks.incrementAndGet() == 1) {
                    faulty.inject(point, Fault.cut());
                }
            });
            if (builder instanceof ClaimRelayBuilder claiming) {
                claiming.lease(Duration.ofSeconds(7));
            }
            Set<UUID> ids = new HashSet<>(append("orders", 20));
            OutboxRelay relay = start(builder);

            awaitNothingLeft();
            assertThat(new HashSet<>(arrivedIds())).containsAll(ids);
            assertThat(database.count("status = 'DEAD' OR attempts > 0")).isZero();
            relay.close();
        }
    }

    /**
     * The clock is the test's: after ten minutes' worth of an outage and a backlog that grew all the time, everything goes
     * out and nothing has counted.
     */
    @ParameterizedTest
    @EnumSource
    void brokerDownForTenMinutes_backlogGrows_nothingDiesAndNothingCounts(Mode mode) {
        AtomicLong passed = new AtomicLong();
        publisher.failWith(Kind.BROKER);
        List<UUID> ids = new ArrayList<>();
        OutboxRelay relay = start(builder(mode).ticker(() -> System.nanoTime() + passed.get()));
        for (int tenSeconds = 0; tenSeconds < 60; tenSeconds++) {
            ids.addAll(append("orders", 20));
            long failures = relay.statistics().brokerFailures();
            // No rest is longer than this.
            passed.addAndGet(Duration.ofSeconds(10).toNanos());
            relay.nudge();
            if (tenSeconds % 20 == 0) {
                await().atMost(DEADLINE).until(() -> relay.statistics().brokerFailures() > failures);
            }
        }
        assertThat(database.count("status = 'DEAD' OR attempts > 0 OR status = 'PUBLISHED'"))
                .isZero();
        assertThat(relay.health().status()).isEqualTo(RelayHealth.Status.DEGRADED);

        publisher.recoverBroker();
        passed.addAndGet(Duration.ofSeconds(10).toNanos());
        relay.nudge();

        awaitNothingLeft();
        assertThat(new HashSet<>(arrivedIds())).containsExactlyInAnyOrderElementsOf(ids);
        assertThat(database.count("status = 'DEAD' OR attempts > 0")).isZero();
        await().atMost(DEADLINE).until(() -> relay.health().status() == RelayHealth.Status.UP);
    }

    /** A statement in the client's own thread would hold up every other answer. */
    @ParameterizedTest
    @EnumSource(names = {"LEASE", "CLAIM"})
    void markHangs_answersAreTakenAllTheSame(Mode mode) throws Exception {
        CountDownLatch marking = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        publisher.hold();
        OutboxRelay relay = start(builder(mode, store, database.dataSource(), step -> {
            if (step.equals("outbox.marking")) {
                marking.countDown();
                awaitUninterrupted(goOn);
            }
        }));
        append("orders", 10);
        await().atMost(DEADLINE).until(() -> publisher.held() == 10);
        publisher.letGo();
        assertThat(marking.await(DEADLINE.toSeconds(), TimeUnit.SECONDS)).isTrue();

        publisher.hold();
        append("orders", 10);
        await().atMost(DEADLINE).until(() -> publisher.held() == 10);
        publisher.letGo();
        awaitArrived(20);
        assertThat(relay.statistics().inFlight()).isEqualTo(20);

        goOn.countDown();
        awaitNothingLeft();
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            assertThat(latch.await(DEADLINE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
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

    @ParameterizedTest
    @EnumSource
    void databaseIsAway_relayIsDown_untilItIsBack(Mode mode) {
        AtomicBoolean away = new AtomicBoolean();
        AtomicLong passed = new AtomicLong();
        AtomicInteger leases = new AtomicInteger();
        DataSource leavable = leavable(database.dataSource(), away);
        OutboxRelay relay = start(builder(mode, JdbiOutboxStore.of(leavable), leavable)
                .ticker(() -> System.nanoTime() + passed.get())
                .listener(new RelayListener() {
                    @Override
                    public void leases(int held, int lost) {
                        leases.set(held);
                    }
                }));
        append("orders", 1);
        awaitNothingLeft();
        assertThat(relay.health().status()).isEqualTo(RelayHealth.Status.UP);

        away.set(true);
        await().atMost(DEADLINE).until(() -> leases.get() == 0);
        await().atMost(DEADLINE).until(() -> relay.health().lastError().isPresent());
        passed.addAndGet(Duration.ofSeconds(31).toNanos());

        await().atMost(DEADLINE)
                .during(Duration.ofMillis(300))
                .until(() -> relay.health().status() == RelayHealth.Status.DOWN);

        away.set(false);
        append("orders", 1);
        await().atMost(DEADLINE).until(() -> relay.health().status() == RelayHealth.Status.UP);
        awaitNothingLeft();
        assertThat(leases).hasValue(mode == Mode.LEASE ? 16 : 0);
    }

    private static DataSource leavable(DataSource dataSource, AtomicBoolean away) {
        return (DataSource) Proxy.newProxyInstance(
                DataSource.class.getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    if (away.get() && method.getName().equals("getConnection")) {
                        throw new SQLTransientConnectionException("Injected by the test", "08001");
                    }
                    return method.invoke(dataSource, arguments);
                });
    }

    /**
     * The row of an event that was sent is lost before its mark, as in a fail-over to a replica that never had it, and the
     * sequence gives its number to another event.
     */
    @ParameterizedTest
    @EnumSource(names = {"LEASE", "CLAIM"})
    void sequenceIsUsedAgainBeforeTheMark_newEventIsSent(Mode mode) {
        UUID later = UUID.randomUUID();
        AtomicBoolean first = new AtomicBoolean(true);
        RelayBuilder<?> builder = builder(mode, store, database.dataSource(), step -> {
            if (step.equals("outbox.marking") && first.getAndSet(false)) {
                database.execute("UPDATE outbox_event SET event_id = '" + later + "', status = 'PENDING',"
                        + " claim_token = NULL, locked_by = NULL, locked_at = NULL, locked_until = NULL");
                throw new StoreUnavailableException("The primary is gone", new IllegalStateException());
            }
        });
        UUID earlier = append("orders", 1).get(0);
        OutboxRelay relay = start(builder);

        awaitNothingLeft();
        await().atMost(DEADLINE).until(() -> relay.statistics().inFlight() == 0);
        assertThat(arrivedIds()).containsExactly(earlier, later);
    }

    /** A claim whose answer was lost belongs to nobody until its lease has ended. */
    private void awaitNothingLeftExceptClaimed(Mode mode) {
        if (mode != Mode.CLAIM) {
            awaitNothingLeft();
        }
    }
}
