package dev.idempotency.shutdown;

import static dev.idempotency.shutdown.ShutdownFixture.REASON;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.event.Level;

/** Rules 1 and 2: the state flips before {@code shutdown} returns, and there is one run and one completion. */
@Timeout(30)
class ShutdownCompletionTest {
    private static final int ROUNDS = 200;
    private static final int CALLERS = 4;

    private final ShutdownFixture fixture = new ShutdownFixture();

    @Test
    void rule1_shutdownReturns_noWorkIsAdmittedAnyMore() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();
        CountDownLatch announced = new CountDownLatch(1);
        shutdown.on(Phase.ANNOUNCE, "slow", deadline -> announced.await());
        assertThat(shutdown.state()).isEqualTo(State.RUNNING);
        assertThat(shutdown.acceptsWork()).isTrue();

        CompletionStage<ShutdownReport> completion = shutdown.shutdown(REASON);

        assertThat(shutdown.state()).isEqualTo(State.DRAINING);
        assertThat(shutdown.acceptsWork()).isFalse();
        assertThat(shutdown.inFlight().tryEnter("late")).isEmpty();
        assertThat(completion.toCompletableFuture()).isNotDone();
        announced.countDown();
        assertThat(ShutdownFixture.await(shutdown).clean()).isTrue();
        assertThat(shutdown.state()).isEqualTo(State.STOPPED);
    }

    @Test
    void rule2_manyCallersAtOnce_everyTaskRunsOnceAndAllGetTheSameCompletion() throws Exception {
        ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
        try {
            for (int round = 0; round < ROUNDS; round++) {
                GracefulShutdown shutdown = new GracefulShutdown(settingsOf(fixture));
                AtomicInteger runs = new AtomicInteger();
                shutdown.on(Phase.CLOSE, "pool", deadline -> runs.incrementAndGet());
                CyclicBarrier barrier = new CyclicBarrier(CALLERS);
                List<Future<CompletionStage<ShutdownReport>>> results = new ArrayList<>();
                for (int i = 0; i < CALLERS; i++) {
                    Reason reason = new Reason("caller " + i);
                    results.add(callers.submit(() -> {
                        barrier.await();
                        CompletionStage<ShutdownReport> mine = shutdown.shutdown(reason);
                        assertThat(shutdown.acceptsWork()).isFalse();
                        return mine;
                    }));
                }
                CompletionStage<ShutdownReport> first = results.get(0).get();
                for (Future<CompletionStage<ShutdownReport>> result : results) {
                    assertThat((Object) result.get()).isSameAs(first);
                }
                first.toCompletableFuture().get(20, SECONDS);
                assertThat(runs).hasValue(1);
            }
        } finally {
            callers.shutdownNow();
        }
    }

    @Test
    void rule2_secondCallerWhileUnderWay_isWarnedAboutOnceWithBothReasonsAndThreads() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();
        CountDownLatch drained = new CountDownLatch(1);
        shutdown.on(Phase.DRAIN, "slow", deadline -> drained.await());

        shutdown.shutdown(new Reason("signal"));
        shutdown.shutdown(new Reason("container"));
        shutdown.shutdown(new Reason("container"));
        drained.countDown();
        ShutdownFixture.await(shutdown);

        String thread = Thread.currentThread().getName();
        assertThat(fixture.log.lines(Level.WARN))
                .singleElement()
                .asString()
                .contains("\"signal\" on " + thread, "\"container\" on " + thread);
    }

    @Test
    void rule2_callAfterTheEnd_getsTheSameReportWithoutWarning() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();
        ShutdownReport report = ShutdownFixture.await(shutdown);

        assertThat(shutdown.shutdown(new Reason("late")).toCompletableFuture().get())
                .isSameAs(report);
        assertThat(report.reason()).isEqualTo(REASON);
        assertThat(fixture.log.lines(Level.WARN)).isEmpty();
    }

    @Test
    void rule2_oneCallerCancelsItsView_nobodyElseNotices() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();
        CountDownLatch drained = new CountDownLatch(1);
        shutdown.on(Phase.DRAIN, "slow", deadline -> drained.await());

        assertThat(shutdown.shutdown(REASON).toCompletableFuture().cancel(true)).isTrue();
        drained.countDown();

        assertThat(ShutdownFixture.await(shutdown).clean()).isTrue();
    }

    @Test
    void on_shutdownHasBegun_isRefusedWithTheState() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();
        ShutdownFixture.await(shutdown);

        assertThatThrownBy(() -> shutdown.on(Phase.CLOSE, "pool", fixture.noting("pool")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContainingAll("'pool'", "STOPPED");
        assertThatThrownBy(() -> shutdown.watch("pool", () -> false)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> shutdown.ownJvmShutdown("main")).isInstanceOf(IllegalStateException.class);
        assertThat(System.getProperty(JvmClaim.PROPERTY)).isNull();
        assertThat(fixture.done).isEmpty();
    }

    @Test
    void registration_closedBefore_taskDoesNotRun() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();
        Registration registration = shutdown.on(Phase.CLOSE, "gone", fixture.noting("gone"));
        shutdown.on(Phase.CLOSE, "kept", fixture.noting("kept"));

        registration.close();
        registration.close();
        ShutdownFixture.await(shutdown);

        assertThat(fixture.done).containsExactly("kept");
    }

    private static Settings settingsOf(ShutdownFixture fixture) {
        return new Settings(
                Duration.ofSeconds(25),
                Duration.ofSeconds(5),
                Duration.ZERO,
                1,
                TimeSource.SYSTEM,
                fixture.log,
                fixture.halts::add,
                fixture.lastWords::add);
    }
}
