package dev.idempotency.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Reason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How a relay starts, drains and ends. One subclass per database. */
abstract class StopScenarios extends RelayScenarios {
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

    /** Writers do not stop because a relay does; whoever comes next finds rows that are free, and nothing twice. */
    @ParameterizedTest
    @EnumSource
    void closedUnderLoad_leavesNothingInPublishing_andSendsNothingTwice(Mode mode) throws Exception {
        Set<UUID> ids = ConcurrentHashMap.newKeySet();
        AtomicBoolean writing = new AtomicBoolean(true);
        List<Thread> writers = new ArrayList<>();
        for (int writer = 0; writer < 4; writer++) {
            Thread thread = new Thread(() -> {
                while (writing.get()) {
                    ids.addAll(append("orders", 20));
                    awaitRoom(ids::size, writing::get);
                }
            });
            writers.add(thread);
            thread.start();
        }
        for (int round = 0; round < 4; round++) {
            int before = publisher.arrived().size();
            OutboxRelay relay = start(builder(mode).batchSize(50));
            awaitArrived(before + 100);

            assertThat(relay.close(DEADLINE)).isTrue();

            assertThat(database.count("status = 'PUBLISHING'")).isZero();
        }
        writing.set(false);
        for (Thread writer : writers) {
            writer.join(DEADLINE.toMillis());
        }

        start(builder(mode));
        awaitNothingLeft();
        assertThat(arrivedIds()).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(ids);
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
}
