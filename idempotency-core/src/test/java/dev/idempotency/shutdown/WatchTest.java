package dev.idempotency.shutdown;

import static dev.idempotency.shutdown.ShutdownFixture.REASON;
import static dev.idempotency.shutdown.ShutdownFixture.steps;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.event.Level;

/** Rule 9: an owner that the claim cannot see is noticed by what it has closed. */
@Timeout(30)
class WatchTest {
    private final ShutdownFixture fixture = new ShutdownFixture();
    private final AtomicBoolean closed = new AtomicBoolean();

    @Test
    void rule9_closedBeforeTheShutdown_isReportedOnce() throws Exception {
        GracefulShutdown shutdown = watching();
        closed.set(true);

        ShutdownReport report = ShutdownFixture.await(shutdown);

        assertThat(report.clean()).isFalse();
        assertThat(steps(report)).containsExactly("ANNOUNCE pool ClosedEarly", "DRAIN in-flight Done");
        assertThat(fixture.log.lines(Level.ERROR))
                .containsExactly("ERROR shutdown phase=ANNOUNCE pool is closed before its phase: another owner is"
                        + " closing it");
    }

    @Test
    void rule9_closedWhileDraining_isNoticedAtTheNextPhase() throws Exception {
        GracefulShutdown shutdown = watching();
        shutdown.on(Phase.DRAIN, "rogue", deadline -> closed.set(true));

        assertThat(steps(ShutdownFixture.await(shutdown))).contains("RELEASE pool ClosedEarly");
    }

    @Test
    void rule9_closedInRelease_isNoticedBeforeClose() throws Exception {
        GracefulShutdown shutdown = watching();
        shutdown.on(Phase.RELEASE, "rogue", deadline -> closed.set(true));

        assertThat(steps(ShutdownFixture.await(shutdown))).contains("CLOSE pool ClosedEarly");
    }

    @Test
    void rule9_closedInItsPhase_isFineAndSilent() throws Exception {
        GracefulShutdown shutdown = watching();
        shutdown.on(Phase.CLOSE, "pool", deadline -> closed.set(true));

        ShutdownReport report = ShutdownFixture.await(shutdown);

        assertThat(report.clean()).isTrue();
        assertThat(steps(report)).containsExactly("DRAIN in-flight Done", "CLOSE pool Done");
        assertThat(fixture.log.lines(Level.ERROR)).isEmpty();
    }

    @Test
    void rule9_watchThrows_isReportedAndStopsNothing() throws Exception {
        GracefulShutdown shutdown = watching();
        shutdown.watch("broken", () -> {
            throw new IllegalStateException("no answer");
        });

        assertThat(steps(ShutdownFixture.await(shutdown)))
                .containsExactly("ANNOUNCE broken Failed", "DRAIN in-flight Done");
    }

    @Test
    void rule9_watchHangs_costsTheMarginOnce() throws Exception {
        GracefulShutdown shutdown = watching();
        shutdown.watch("stuck", this::hang);

        shutdown.shutdown(REASON);
        fixture.time.passOnceAwaited(Duration.ofMillis(250));
        ShutdownReport report = ShutdownFixture.await(shutdown);

        assertThat(steps(report)).containsExactly("ANNOUNCE stuck TimedOut", "DRAIN in-flight Done");
        assertThat(report.took()).isEqualTo(Duration.ofMillis(250));
        fixture.never.countDown();
    }

    @Test
    void rule9_watchTakenBack_isNotAsked() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();
        shutdown.watch("pool", () -> true).close();

        assertThat(ShutdownFixture.await(shutdown).clean()).isTrue();
    }

    @Test
    void rule9_hookOfAKnownFrameworkIsRunning_isListed() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();
        CountDownLatch started = new CountDownLatch(1);
        Thread hook = new Thread(
                () -> {
                    started.countDown();
                    hang();
                },
                "SpringContextShutdownHook");
        hook.setDaemon(true);
        hook.start();
        started.await();

        ShutdownFixture.await(shutdown);
        fixture.never.countDown();
        hook.join();

        assertThat(fixture.log.lines(Level.INFO))
                .contains("INFO shutdown runs beside other JVM shutdown hooks [SpringContextShutdownHook]");
    }

    private boolean hang() {
        return TimeSource.SYSTEM.awaitUninterruptibly(fixture.never, System.nanoTime() + SECONDS.toNanos(20));
    }

    private GracefulShutdown watching() {
        GracefulShutdown shutdown = fixture.builder().build();
        shutdown.watch("pool", closed::get);
        return shutdown;
    }
}
