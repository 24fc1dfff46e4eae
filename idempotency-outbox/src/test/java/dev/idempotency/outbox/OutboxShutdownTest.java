package dev.idempotency.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idempotency.OutboxEvent;
import dev.idempotency.jdbi.JdbiOutboxStore;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Phase;
import dev.idempotency.shutdown.Reason;
import dev.idempotency.shutdown.ShutdownReport;
import dev.idempotency.testkit.fault.Fault;
import dev.idempotency.testkit.fault.FaultInjectingDataSource;
import dev.idempotency.testkit.fault.Gate;
import dev.idempotency.testkit.fault.JdbcPoint;
import dev.idempotency.testkit.memory.InMemoryPublisher;
import dev.idempotency.transaction.TransactionLimits;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How the outbox's background work ends with the application. */
@Timeout(120)
class OutboxShutdownTest {
    private static final Duration DEADLINE = Duration.ofSeconds(60);

    private final GracefulShutdown shutdown = GracefulShutdown.ofDefaults();
    private OutboxDatabase database;
    private FaultInjectingDataSource faults;
    private JdbiOutboxStore store;

    @BeforeEach
    void open() {
        database = OutboxDatabase.h2();
        faults = FaultInjectingDataSource.wrap(database.dataSource());
        store = JdbiOutboxStore.of(faults);
    }

    @AfterEach
    void close() throws Exception {
        database.close();
    }

    @Test
    void cleanUp_statementInHand_isFinishedBeforeAnythingIsClosed() throws Exception {
        Gate gate = new Gate();
        faults.inject(JdbcPoint.BEFORE_EXECUTE, sql -> sql.contains("outbox_event"), 1, Fault.hold(gate));
        AtomicBoolean statementOver = new AtomicBoolean();
        AtomicBoolean overAtClose = new AtomicBoolean();
        shutdown.on(Phase.CLOSE, "pool", deadline -> overAtClose.set(statementOver.get()));
        OutboxCleanUp cleanUp = OutboxCleanUp.builder(store)
                .interval(Duration.ofMillis(1))
                .shutdown(shutdown)
                .build();
        CountDownLatch intakeStopped = new CountDownLatch(1);
        shutdown.on(Phase.DRAIN, "the test", deadline -> intakeStopped.countDown());
        cleanUp.start();
        gate.awaitReached(DEADLINE);

        CompletableFuture<ShutdownReport> end =
                shutdown.shutdown(new Reason("test")).toCompletableFuture();
        assertThat(intakeStopped.await(60, TimeUnit.SECONDS)).isTrue();
        faults.resetCounts();
        statementOver.set(true);
        gate.open();

        assertThat(end.get(60, TimeUnit.SECONDS).clean()).isTrue();
        assertThat(overAtClose).isTrue();
        assertThat(faults.statements()).as("a job that was not begun").noneMatch(sql -> sql.contains("DELETE"));
    }

    @Test
    void cleanUp_waitsForItsNextRun_endsAtOnce() throws Exception {
        OutboxCleanUp cleanUp = OutboxCleanUp.builder(store)
                .interval(Duration.ofHours(24))
                .shutdown(shutdown)
                .build();
        cleanUp.start();

        ShutdownReport report =
                shutdown.shutdown(new Reason("test")).toCompletableFuture().get(60, TimeUnit.SECONDS);

        assertThat(report.clean()).isTrue();
        assertThat(report.took()).isLessThan(Duration.ofSeconds(10));
        cleanUp.close();
    }

    @Test
    void cleanUp_closedBefore_leavesTheShutdown() throws Exception {
        OutboxCleanUp cleanUp = OutboxCleanUp.builder(store).shutdown(shutdown).build();
        cleanUp.start();
        cleanUp.close();

        ShutdownReport report =
                shutdown.shutdown(new Reason("test")).toCompletableFuture().get(60, TimeUnit.SECONDS);

        assertThat(report.steps()).noneMatch(step -> step.name().contains("clean-up"));
        OutboxCleanUp late = OutboxCleanUp.builder(store).shutdown(shutdown).build();
        assertThatThrownBy(late::start).isInstanceOf(IllegalStateException.class);
        late.close();
    }

    @Test
    void relay_claimedAndNotSent_isGivenBackInOneStatementBeforeThePoolIsClosed() throws Exception {
        CountDownLatch poolMayClose = new CountDownLatch(1);
        shutdown.on(Phase.CLOSE, "pool", deadline -> poolMayClose.await());
        InMemoryPublisher publisher = InMemoryPublisher.create();
        publisher.hold();
        append(100);
        OutboxRelay relay = OutboxRelay.claiming(store, publisher)
                .poll(Duration.ofMillis(5), Duration.ofMillis(50))
                .maxInFlight(20, 1 << 20)
                .shutdown(shutdown)
                .build();
        relay.start();
        await().atMost(DEADLINE).until(() -> publisher.held() == 20);
        int claimed = database.count("status = 'PUBLISHING'");
        faults.resetCounts();

        CompletableFuture<ShutdownReport> end =
                shutdown.shutdown(new Reason("test")).toCompletableFuture();

        // What was not sent is free while what was sent still has no answer.
        await().atMost(DEADLINE).until(() -> database.count("status = 'PUBLISHING'") == 20);
        assertThat(claimed).isGreaterThanOrEqualTo(20);
        assertThat(database.count("status = 'PENDING' AND attempts = 0")).isEqualTo(80);
        assertThat(faults.statements())
                .filteredOn(sql -> sql.contains("UPDATE") && sql.contains("outbox_event"))
                .hasSizeLessThanOrEqualTo(1);
        publisher.letGo();
        await().atMost(DEADLINE).until(() -> database.count("status = 'PUBLISHED'") == 20);
        poolMayClose.countDown();
        assertThat(end.get(60, TimeUnit.SECONDS).clean()).isTrue();
        assertThat(publisher.arrived()).hasSize(20);
    }

    private void append(int events) {
        List<OutboxEvent> batch = new ArrayList<>();
        for (int number = 0; number < events; number++) {
            batch.add(OutboxEvent.to("orders")
                    .payload(Integer.toString(number).getBytes(StandardCharsets.US_ASCII))
                    .build());
        }
        database.runner()
                .run(
                        TransactionLimits.ofDefaults(),
                        transaction -> Outbox.of(store).appendAll(transaction, batch));
    }
}
