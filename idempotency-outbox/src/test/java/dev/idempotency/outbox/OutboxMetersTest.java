package dev.idempotency.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.OutboxEvent;
import dev.idempotency.jdbi.JdbiOutboxStore;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Reason;
import dev.idempotency.spi.PublishOutcome;
import dev.idempotency.spi.PublishOutcome.Kind;
import dev.idempotency.testkit.memory.InMemoryPublisher;
import dev.idempotency.transaction.TransactionLimits;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The meters say what the relay did, and nothing that names an event. */
class OutboxMetersTest {
    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final InMemoryPublisher publisher = InMemoryPublisher.create(Duration.ofSeconds(4));
    private final OutboxDatabase database = OutboxDatabase.h2();
    private final JdbiOutboxStore store = database.store();

    @AfterEach
    void close() throws Exception {
        publisher.letGo();
        database.close();
    }

    private void append(String topic) {
        OutboxEvent event =
                OutboxEvent.to(topic).key("customer-7").tenant("acme").build();
        database.runner()
                .run(
                        TransactionLimits.ofDefaults(),
                        transaction -> Outbox.of(store).append(transaction, event));
    }

    private double events(String outcome) {
        return registry.get("idempotency.outbox.events")
                .tag("relay", "orders")
                .tag("outcome", outcome)
                .counter()
                .count();
    }

    private double gauge(String name) {
        return registry.get("idempotency.outbox." + name).gauge().value();
    }

    @Test
    void events_areCountedByOutcome_andTimesAreTaken() {
        publisher.answer(row -> row.event().topic().equals("bad")
                ? InMemoryPublisher.failed(Kind.RECORD)
                : new PublishOutcome.Published());
        try (OutboxMeters meters = OutboxMeters.of(registry, "orders");
                OutboxRelay relay = OutboxRelay.leasing(store, publisher)
                        .retry(new RetryPolicy(2, Duration.ofMillis(1), Duration.ofMillis(1)))
                        .ordering(Ordering.NONE)
                        .listener(meters)
                        .build()) {
            meters.watch(relay);
            assertThat(gauge("up")).isZero();
            relay.start();
            append("good");
            append("bad");
            append("good");

            await().atMost(DEADLINE).until(() -> database.count("done_at IS NULL") == 0);
            await().atMost(DEADLINE).until(() -> events("dead") == 1);
            assertThat(events("published")).isEqualTo(2);
            assertThat(events("record")).isEqualTo(2);
            assertThat(events("broker")).isZero();
            assertThat(events("fenced")).isZero();
            assertThat(registry.get("idempotency.outbox.send").timer().count()).isEqualTo(4);
            assertThat(registry.get("idempotency.outbox.mark").timer().count()).isPositive();
            assertThat(registry.get("idempotency.outbox.read.rows").summary().totalAmount())
                    .isGreaterThanOrEqualTo(3);
            assertThat(gauge("leases")).isEqualTo(16);
            assertThat(gauge("up")).isEqualTo(1);
            assertThat(gauge("topics.failing")).isZero();
            await().atMost(DEADLINE).until(() -> gauge("inflight") == 0 && gauge("inflight.bytes") == 0);
        }
    }

    @Test
    void lostLeasesAndFencedMarks_areCounted() {
        publisher.hold();
        try (OutboxMeters meters = OutboxMeters.of(registry, "orders");
                OutboxRelay relay =
                        OutboxRelay.leasing(store, publisher).listener(meters).build()) {
            meters.watch(relay);
            relay.start();
            append("good");
            await().atMost(DEADLINE).until(() -> publisher.held() == 1);
            assertThat(gauge("inflight")).isEqualTo(1);

            database.execute("UPDATE outbox_lease SET owner = 'thief', epoch = epoch + 1");
            publisher.letGo();

            await().atMost(DEADLINE).until(() -> events("fenced") == 1);
            await().atMost(DEADLINE).until(() -> lost() == 16);
        }
    }

    private double lost() {
        return registry.get("idempotency.outbox.leases.lost").counter().count();
    }

    @Test
    void backlog_isAskedAtMostEveryFiveSeconds_andNotANumberWhenTheDatabaseIsGone() throws Exception {
        OutboxAdministration administration = OutboxAdministration.of(store);
        AtomicLong now = new AtomicLong();
        OutboxMeters.BacklogLook look = new OutboxMeters.BacklogLook(now::get);
        append("good");
        assertThat(look.atMost(administration)).isEqualTo(1);
        append("good");
        assertThat(look.atMost(administration)).isEqualTo(1);
        now.addAndGet(TimeUnit.SECONDS.toNanos(5));
        assertThat(look.atMost(administration)).isEqualTo(2);
        assertThat(look.seconds(administration)).isBetween(0.0, 60.0);

        database.close();
        now.addAndGet(TimeUnit.SECONDS.toNanos(5));

        assertThat(look.atMost(administration)).isNaN();
        assertThat(look.seconds(administration)).isNaN();
    }

    @Test
    void watchedOutbox_hasLagAndBacklog() {
        try (OutboxMeters meters = OutboxMeters.of(registry, "orders")) {
            meters.watch(OutboxAdministration.of(store));
            append("good");

            assertThat(gauge("backlog")).isEqualTo(1);
            assertThat(registry.get("idempotency.outbox.lag").timeGauge().value(TimeUnit.SECONDS))
                    .isBetween(0.0, 60.0);
        }
    }

    /** Nobody but the gauges knows the outbox's administration. */
    @Test
    void watchedOutbox_isStillWatchedAfterAGarbageCollection() {
        try (OutboxMeters meters = OutboxMeters.of(registry, "orders")) {
            WeakReference<OutboxAdministration> watched = watchNew(meters);
            append("good");
            WeakReference<Object> garbage = new WeakReference<>(new Object());
            await().atMost(DEADLINE).until(() -> {
                System.gc();
                return garbage.get() == null;
            });

            assertThat(watched.get()).isNotNull();
            assertThat(gauge("backlog")).isEqualTo(1);
            assertThat(registry.get("idempotency.outbox.lag").timeGauge().value(TimeUnit.SECONDS))
                    .isBetween(0.0, 60.0);
        }
    }

    private WeakReference<OutboxAdministration> watchNew(OutboxMeters meters) {
        OutboxAdministration administration = OutboxAdministration.of(store);
        meters.watch(administration);
        return new WeakReference<>(administration);
    }

    @Test
    void close_leavesNothingBehind_andNoTagNamesAnEvent() {
        try (OutboxMeters meters = OutboxMeters.of(registry, "orders");
                OutboxRelay relay =
                        OutboxRelay.leasing(store, publisher).listener(meters).build()) {
            meters.watch(relay);
            meters.watch(OutboxAdministration.of(store));
            relay.start();
            append("good");
            await().atMost(DEADLINE).until(() -> database.count("1 = 1") == 0);

            for (Meter meter : registry.getMeters()) {
                assertThat(meter.getId().getTags()).extracting(Tag::getKey).isSubsetOf("relay", "outcome");
            }
        }
        assertThat(registry.getMeters()).isEmpty();
    }

    /** The example of the page. */
    @Test
    void relayAndOutboxOfThePage_work() throws Exception {
        GracefulShutdown shutdown = GracefulShutdown.ofDefaults();
        OutboxMeters meters = OutboxMeters.of(registry, "orders");
        OutboxRelay relay = OutboxRelay.leasing(store, publisher)
                .name("orders")
                .retry(new RetryPolicy(20, Duration.ofSeconds(1), Duration.ofMinutes(5)))
                .listener(meters)
                .shutdown(shutdown)
                .build();
        meters.watch(relay);
        meters.watch(OutboxAdministration.of(store));
        relay.start();
        Outbox outbox = Outbox.builder(store)
                .ordering(Ordering.KEY)
                .afterCommit(relay::nudge)
                .build();
        database.runner()
                .run(
                        TransactionLimits.ofDefaults(),
                        transaction -> outbox.append(
                                transaction, OutboxEvent.to("good").key("k").build()));

        await().atMost(DEADLINE).until(() -> publisher.arrived().size() == 1);
        assertThat(shutdown.shutdown(new Reason("test"))
                        .toCompletableFuture()
                        .get(60, TimeUnit.SECONDS)
                        .clean())
                .isTrue();
    }

    static Stream<Throwable> thrown() {
        return Stream.of(
                new IllegalStateException("Injected by the test"), new NoClassDefFoundError("Injected by the test"));
    }

    @ParameterizedTest
    @MethodSource("thrown")
    void listenerThatThrows_changesNothing(Throwable thrown) {
        RelayListener broken = new RelayListener() {
            @Override
            public void answered(String topic, PublishOutcome outcome, Duration took) {
                fail(thrown);
            }

            @Override
            public void read(int rows, Duration took) {
                fail(thrown);
            }

            @Override
            public void marked(int rows, int fenced, Duration took) {
                fail(thrown);
            }

            @Override
            public void leases(int held, int lost) {
                fail(thrown);
            }
        };
        try (OutboxRelay relay =
                OutboxRelay.leasing(store, publisher).listener(broken).build()) {
            relay.start();
            append("good");

            await().atMost(DEADLINE).until(() -> database.count("done_at IS NULL") == 0);
            await().atMost(DEADLINE).until(() -> relay.statistics().inFlight() == 0);
            assertThat(publisher.arrived()).hasSize(1);
            assertThat(relay.statistics().failedPasses()).isZero();
        }
    }

    private static void fail(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        throw (RuntimeException) thrown;
    }
}
