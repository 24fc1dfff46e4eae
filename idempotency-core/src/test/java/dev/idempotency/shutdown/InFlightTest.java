package dev.idempotency.shutdown;

import static dev.idempotency.shutdown.ShutdownFixture.REASON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.shutdown.ShutdownReport.StillRunning;
import dev.idempotency.shutdown.ShutdownReport.TimedOut;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.event.Level;

/** Rule 3: the gate counts first and tests second, and a permit that leaked is named. */
@Timeout(60)
class InFlightTest {
    private static final int ROUNDS = 2_000;
    private static final int WORKERS = 3;
    private static final Duration SOFT = Duration.ofMillis(19_750);

    private final ShutdownFixture fixture = new ShutdownFixture();

    @Test
    void rule3_workersRaceWithTheDrain_noneIsInsideWhenTheDrainHasEnded() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(WORKERS);
        try {
            for (int round = 0; round < ROUNDS; round++) {
                raceOnce(threads);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** Workers enter and leave until they are refused, the drain begins meanwhile; then the resource is closed. */
    private static void raceOnce(ExecutorService threads) throws Exception {
        AtomicBoolean admitting = new AtomicBoolean(true);
        AtomicBoolean resourceClosed = new AtomicBoolean();
        AtomicInteger usedAfterClose = new AtomicInteger();
        InFlight gate = new InFlight(admitting::get, TimeSource.SYSTEM);
        CyclicBarrier barrier = new CyclicBarrier(WORKERS + 1);
        List<Future<?>> workers = new ArrayList<>();
        for (int i = 0; i < WORKERS; i++) {
            workers.add(threads.submit(() -> {
                barrier.await();
                Optional<Permit> permit = gate.tryEnter("work");
                while (permit.isPresent()) {
                    if (resourceClosed.get()) {
                        usedAfterClose.incrementAndGet();
                    }
                    permit.get().close();
                    permit = gate.tryEnter("work");
                }
                return null;
            }));
        }
        barrier.await();
        admitting.set(false);
        assertThat(gate.awaitIdle(System.nanoTime() + Duration.ofSeconds(20).toNanos()))
                .isTrue();
        resourceClosed.set(true);
        for (Future<?> worker : workers) {
            worker.get();
        }
        assertThat(usedAfterClose).hasValue(0);
        assertThat(gate.active()).isZero();
    }

    @Test
    void rule3_permitNeverClosed_isNamedWithAgeAndThreadAndTheRestGoesOn() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();
        shutdown.on(Phase.CLOSE, "pool", fixture.noting("pool"));
        assertThat(shutdown.inFlight().tryEnter("POST /pay")).isPresent();
        fixture.time.advance(Duration.ofSeconds(7));
        assertThat(shutdown.inFlight().tryEnter("event\nbilling")).isPresent();

        shutdown.shutdown(REASON);
        fixture.time.passOnceAwaited(SOFT.plusSeconds(7));
        ShutdownReport report = ShutdownFixture.await(shutdown);

        String thread = Thread.currentThread().getName();
        assertThat(report.clean()).isFalse();
        assertThat(report.steps().get(0).outcome())
                .isEqualTo(new TimedOut(List.of(
                        new StillRunning("POST /pay", SOFT.plusSeconds(7), thread),
                        new StillRunning("event\nbilling", SOFT, thread))));
        assertThat(fixture.done).containsExactly("pool");
        assertThat(fixture.log.lines(Level.WARN))
                .anySatisfy(line -> assertThat(line)
                        .contains(
                                "task=in-flight timed out after 19750ms, still running: [POST /pay age=26750ms thread="
                                        + thread + ", event?billing age=19750ms"));
    }

    @Test
    void drain_workInFlight_waitsForItsPermit() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();
        shutdown.on(Phase.RELEASE, "release", fixture.noting("release"));
        Permit permit = shutdown.inFlight().tryEnter("work").orElseThrow();

        shutdown.shutdown(REASON);
        fixture.time.awaitWaiterUntil(SOFT);
        assertThat(fixture.done).isEmpty();
        fixture.done.add("work");
        permit.close();

        assertThat(ShutdownFixture.await(shutdown).clean()).isTrue();
        assertThat(fixture.done).containsExactly("work", "release");
    }

    @Test
    void close_twice_countsOnce() {
        InFlight gate = GracefulShutdown.ofDefaults().inFlight();
        Permit permit = gate.tryEnter("work").orElseThrow();
        assertThat(gate.tryEnter("other")).isPresent();

        permit.close();
        permit.close();

        assertThat(gate.active()).isEqualTo(1);
    }

    @Test
    void fork_duringTheDrain_isAdmittedAndWaitedFor() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();
        Permit request = shutdown.inFlight().tryEnter("request").orElseThrow();

        shutdown.shutdown(REASON);
        Permit continuation = request.fork("continuation");
        request.close();
        fixture.time.awaitWaiterUntil(SOFT);
        assertThat(shutdown.inFlight().active()).isEqualTo(1);
        continuation.close();

        assertThat(ShutdownFixture.await(shutdown).clean()).isTrue();
    }

    @Test
    void fork_ofAClosedPermit_isRefusedAndEntersNothing() {
        InFlight gate = GracefulShutdown.ofDefaults().inFlight();
        Permit permit = gate.tryEnter("request").orElseThrow();
        permit.close();

        assertThatThrownBy(() -> permit.fork("late"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContainingAll("late", "request");
        assertThat(gate.active()).isZero();
    }
}
