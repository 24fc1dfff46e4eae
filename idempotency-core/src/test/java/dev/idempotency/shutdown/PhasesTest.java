package dev.idempotency.shutdown;

import static dev.idempotency.shutdown.ShutdownFixture.REASON;
import static dev.idempotency.shutdown.ShutdownFixture.steps;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.shutdown.ShutdownReport.Failed;
import dev.idempotency.shutdown.ShutdownReport.StillRunning;
import dev.idempotency.shutdown.ShutdownReport.TimedOut;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.event.Level;

/** Rules 4, 5 and 6: absolute cut-offs, equal shares for closers, and nobody cancels or stops anybody. */
@Timeout(30)
class PhasesTest {
    private final ShutdownFixture fixture = new ShutdownFixture();

    @Test
    void phases_runInOrderWithABarrierBetween() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();
        shutdown.on(Phase.CLOSE, "pool", fixture.noting("close pool"));
        shutdown.on(Phase.CLOSE, "server", fixture.noting("close server"));
        shutdown.on(Phase.RELEASE, "release", fixture.noting("release"));
        shutdown.on(Phase.STOP_INTAKE, "stop", fixture.noting("stop"));
        shutdown.on(Phase.DRAIN, "drain", fixture.noting("drain"));
        shutdown.on(Phase.ANNOUNCE, "announce", fixture.noting("announce"));

        ShutdownReport report = ShutdownFixture.await(shutdown);

        assertThat(fixture.done).containsExactly("announce", "stop", "drain", "release", "close server", "close pool");
        assertThat(steps(report))
                .containsExactly(
                        "ANNOUNCE announce Done",
                        "STOP_INTAKE stop Done",
                        "DRAIN in-flight Done",
                        "DRAIN drain Done",
                        "RELEASE release Done",
                        "CLOSE server Done",
                        "CLOSE pool Done");
        assertThat(fixture.log.lines(Level.WARN)).isEmpty();
        assertThat(fixture.log.lines(Level.ERROR)).isEmpty();
    }

    @Test
    void phase_tasksOfOnePhase_runAtTheSameTime() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();
        CyclicBarrier meeting = new CyclicBarrier(2);
        shutdown.on(Phase.DRAIN, "one", deadline -> meeting.await(20, SECONDS));
        shutdown.on(Phase.DRAIN, "two", deadline -> meeting.await(20, SECONDS));

        assertThat(ShutdownFixture.await(shutdown).clean()).isTrue();
    }

    @Test
    void rule4_everyPhaseHangs_eachEndsAtItsCutOffAndAllEndBeforeTheHalt() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();
        for (Phase phase : Phase.values()) {
            shutdown.on(phase, "hang", fixture.hanging());
        }

        shutdown.shutdown(REASON);
        fixture.time.passOnceAwaited(Duration.ofMillis(9_875)); // half of what is left to the soft cut-off
        fixture.time.passOnceAwaited(Duration.ofNanos(14_812_500_000L)); // half of the other half
        fixture.time.passOnceAwaited(Duration.ofMillis(19_750)); // soft: 25 s - 5 s - 250 ms
        fixture.time.passOnceAwaited(Duration.ofMillis(22_250)); // half of the closing reserve
        fixture.time.passOnceAwaited(Duration.ofMillis(24_750)); // hard: 25 s - 250 ms
        ShutdownReport report = ShutdownFixture.await(shutdown);

        assertThat(report.took()).isEqualTo(Duration.ofMillis(24_750));
        assertThat(steps(report))
                .containsExactly(
                        "ANNOUNCE hang TimedOut",
                        "STOP_INTAKE hang TimedOut",
                        "DRAIN in-flight Done",
                        "DRAIN hang TimedOut",
                        "RELEASE hang TimedOut",
                        "CLOSE hang TimedOut");
        assertThat(fixture.halts).isEmpty();
    }

    @Test
    void rule4_nothingHangs_releaseMayLastUntilTheSoftCutOff() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();
        CountDownLatch releasing = new CountDownLatch(1);
        shutdown.on(Phase.RELEASE, "hang", deadline -> {
            releasing.countDown();
            fixture.never.await();
        });

        shutdown.shutdown(REASON);
        releasing.await();
        fixture.time.passOnceAwaited(Duration.ofMillis(19_750));

        assertThat(ShutdownFixture.await(shutdown).took()).isEqualTo(Duration.ofMillis(19_750));
    }

    @Test
    void rule5_firstCloserHangs_theOthersGetTheirShareAndRun() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();
        shutdown.on(Phase.CLOSE, "pool", deadline -> {
            assertThat(deadline.remaining()).isEqualTo(Duration.ofMillis(8_250));
            fixture.done.add("pool");
        });
        shutdown.on(Phase.CLOSE, "producer", fixture.hanging());
        shutdown.on(Phase.CLOSE, "server", fixture.hanging());

        shutdown.shutdown(REASON);
        fixture.time.passOnceAwaited(Duration.ofMillis(8_250)); // a third of 24.75 s
        fixture.time.passOnceAwaited(Duration.ofMillis(16_500)); // a half of the rest
        ShutdownReport report = ShutdownFixture.await(shutdown);

        assertThat(fixture.done).containsExactly("pool");
        assertThat(steps(report)).endsWith("CLOSE server TimedOut", "CLOSE producer TimedOut", "CLOSE pool Done");
    }

    @Test
    void rule6_taskTimesOut_isLeftRunningAndNotInterrupted() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();
        AtomicBoolean interrupted = new AtomicBoolean();
        CountDownLatch ended = new CountDownLatch(1);
        shutdown.on(Phase.DRAIN, "slow", deadline -> {
            try {
                fixture.never.await();
            } catch (InterruptedException e) {
                interrupted.set(true);
            }
            ended.countDown();
        });

        shutdown.shutdown(REASON);
        fixture.time.passOnceAwaited(Duration.ofMillis(19_750));
        ShutdownReport report = ShutdownFixture.await(shutdown);
        assertThat(ended.getCount()).isEqualTo(1);
        fixture.never.countDown();
        ended.await();

        assertThat(interrupted).isFalse();
        assertThat(report.steps().get(1).outcome())
                .isEqualTo(new TimedOut(List.of(
                        new StillRunning("slow", Duration.ofMillis(19_750), "idempotency-shutdown DRAIN slow"))));
    }

    @Test
    void rule6_taskThrows_theOthersRunAndTheReportKeepsTheCause() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();
        Exception checked = new Exception("checked");
        NoClassDefFoundError error = new NoClassDefFoundError("gone");
        shutdown.on(Phase.CLOSE, "pool", fixture.noting("pool"));
        shutdown.on(Phase.CLOSE, "server", deadline -> {
            throw error;
        });
        shutdown.on(Phase.STOP_INTAKE, "scheduler", deadline -> {
            throw checked;
        });
        shutdown.on(Phase.STOP_INTAKE, "poller", fixture.noting("poller"));

        ShutdownReport report = ShutdownFixture.await(shutdown);

        assertThat(fixture.done).containsExactly("poller", "pool");
        assertThat(report.clean()).isFalse();
        assertThat(report.steps().get(0).outcome()).isEqualTo(new Failed(checked));
        assertThat(report.steps().get(3).outcome()).isEqualTo(new Failed(error));
        assertThat(fixture.log.lines(Level.WARN))
                .last()
                .asString()
                .isEqualTo("WARN shutdown ends UNCLEAN took=0ms not done: [STOP_INTAKE scheduler, CLOSE server]");
    }

    @Test
    void log_cleanRun_tellsEveryPhase() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();
        shutdown.on(Phase.CLOSE, "pool", deadline -> {});

        ShutdownFixture.await(shutdown);

        assertThat(fixture.log.lines())
                .containsExactly(
                        "INFO shutdown begins reason=\"test\" grace=25000ms",
                        "INFO shutdown phase=ANNOUNCE begins tasks=0 left=9875ms inFlight=0",
                        "INFO shutdown phase=STOP_INTAKE begins tasks=0 left=9875ms inFlight=0",
                        "INFO shutdown phase=DRAIN begins tasks=1 left=19750ms inFlight=0",
                        "INFO shutdown phase=DRAIN task=in-flight done took=0ms",
                        "INFO shutdown phase=RELEASE begins tasks=0 left=19750ms inFlight=0",
                        "INFO shutdown phase=CLOSE begins tasks=1 left=24750ms inFlight=0",
                        "INFO shutdown phase=CLOSE task=pool done took=0ms",
                        "INFO shutdown ends clean took=0ms");
    }
}
