package dev.idempotency.shutdown;

import static dev.idempotency.shutdown.ShutdownFixture.REASON;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.event.Level;

/** Rule 7: a run that is stuck is ended at the end of the grace period, but only by the owner of the JVM. */
@Timeout(30)
class WatchdogTest {
    private static final Duration GRACE = Duration.ofSeconds(25);

    private final ShutdownFixture fixture = new ShutdownFixture();
    private final CountDownLatch logWorks = new CountDownLatch(1);
    private final BlockingQueue<String> errors = new LinkedBlockingQueue<>();

    @Test
    void rule7_runIsStuckAndInstanceOwnsTheJvm_saysWhereAndHalts() throws Exception {
        GracefulShutdown shutdown = fixture.builder().forcedExitStatus(7).build();
        blockTheLog();
        try (Ownership ownership = shutdown.ownJvmShutdown("main")) {
            assertThat(ownership.owner()).isEqualTo("main");
            shutdown.shutdown(REASON);
            fixture.time.passOnceAwaited(GRACE);

            assertThat(fixture.halts.poll(10, SECONDS)).isEqualTo(7);
            assertThat(fixture.lastWords.poll())
                    .contains(
                            "not finished within 25000ms",
                            "state=DRAINING",
                            "idempotency-shutdown TIMED_WAITING",
                            "WatchdogTest.blockUninterruptibly",
                            "halting with status 7");
        } finally {
            logWorks.countDown();
        }
        ShutdownFixture.await(shutdown);
    }

    @Test
    void rule7_runIsStuckAndInstanceDoesNotOwnTheJvm_onlyLogs() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();
        blockTheLog();

        shutdown.shutdown(REASON);
        fixture.time.passOnceAwaited(GRACE);

        assertThat(errors.poll(10, SECONDS)).contains("not finished within 25000ms", "not halting");
        logWorks.countDown();
        ShutdownFixture.await(shutdown);
        assertThat(fixture.halts.poll(300, MILLISECONDS)).isNull();
        assertThat(fixture.lastWords).isEmpty();
    }

    @Test
    void rule7_watchdogIsArmedBeforeAnythingElse() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();
        fixture.log.onLine(line -> fixture.time.awaitWaiterUntil(GRACE));

        assertThat(ShutdownFixture.await(shutdown).clean()).isTrue();
    }

    @Test
    void rule7_lastWordsBlock_haltsNevertheless() throws Exception {
        GracefulShutdown shutdown = fixture.builder()
                .lastWords(text -> blockUninterruptibly(logWorks))
                .build();
        blockTheLog();
        Ownership ownership = shutdown.ownJvmShutdown("main");
        try {
            shutdown.shutdown(REASON);
            fixture.time.passOnceAwaited(GRACE);

            assertThat(fixture.halts.poll(10, SECONDS)).isEqualTo(1);
        } finally {
            ownership.close();
            logWorks.countDown();
        }
    }

    @Test
    void rule7_runHasEnded_theWatchdogDoesNothing() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();
        Ownership ownership = shutdown.ownJvmShutdown("main");
        try {
            ShutdownFixture.await(shutdown);
            fixture.time.advance(GRACE);

            assertThat(fixture.halts.poll(300, MILLISECONDS)).isNull();
        } finally {
            ownership.close();
        }
    }

    @Test
    void log_throws_theShutdownGoesOn() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();
        shutdown.on(Phase.CLOSE, "pool", fixture.noting("pool"));
        fixture.log.onLine(line -> {
            throw new NoClassDefFoundError("half a logging system");
        });

        assertThat(ShutdownFixture.await(shutdown).clean()).isTrue();
        assertThat(fixture.done).containsExactly("pool");
    }

    private void blockTheLog() {
        fixture.log.onLine(line -> {
            if (line.startsWith(Level.ERROR.toString())) {
                errors.add(line);
            } else {
                blockUninterruptibly(logWorks);
            }
        });
    }

    private static void blockUninterruptibly(CountDownLatch latch) {
        TimeSource.SYSTEM.awaitUninterruptibly(latch, System.nanoTime() + SECONDS.toNanos(20));
    }
}
