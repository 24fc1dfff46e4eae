package dev.idempotency.shutdown;

import static dev.idempotency.shutdown.ShutdownFixture.REASON;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Rule 12: readiness goes down at once, while work may still be admitted for a while. */
@Timeout(30)
class LameDuckTest {
    private static final Duration LAME_DUCK = Duration.ofSeconds(5);

    private final ShutdownFixture fixture = new ShutdownFixture();

    @Test
    void rule12_noLameDuck_notReadyOnceShutdownHasReturned() {
        GracefulShutdown shutdown = fixture.builder().build();
        assertThat(shutdown.ready()).isTrue();

        shutdown.shutdown(REASON);

        assertThat(shutdown.ready()).isFalse();
    }

    @Test
    void rule12_lameDuck_notReadyButAdmitsWorkUntilThePeriodIsOver() throws Exception {
        GracefulShutdown shutdown = fixture.builder().lameDuck(LAME_DUCK).build();
        CountDownLatch stopIntake = new CountDownLatch(1);
        shutdown.on(Phase.STOP_INTAKE, "hold", deadline -> stopIntake.await());

        shutdown.shutdown(REASON);
        fixture.time.awaitWaiterUntil(LAME_DUCK);

        assertThat(shutdown.state()).isEqualTo(State.LAME_DUCK);
        assertThat(shutdown.ready()).isFalse();
        assertThat(shutdown.acceptsWork()).isTrue();
        shutdown.inFlight().tryEnter("work").orElseThrow().close();
        assertThat(shutdown.awaitIntakeClosed(Duration.ZERO)).isFalse();

        fixture.time.passOnceAwaited(LAME_DUCK);
        assertThat(shutdown.awaitIntakeClosed(Duration.ofSeconds(20))).isTrue();
        assertThat(shutdown.acceptsWork()).isFalse();
        assertThat(shutdown.inFlight().tryEnter("work")).isEmpty();
        stopIntake.countDown();
        assertThat(ShutdownFixture.await(shutdown).took()).isEqualTo(LAME_DUCK);
    }

    @Test
    void states_areSeenInOrder() throws Exception {
        GracefulShutdown shutdown = fixture.builder().lameDuck(LAME_DUCK).build();
        List<State> seen = new CopyOnWriteArrayList<>();
        seen.add(shutdown.state());
        for (Phase phase : Phase.values()) {
            shutdown.on(phase, "look", deadline -> seen.add(shutdown.state()));
        }

        shutdown.shutdown(REASON);
        fixture.time.passOnceAwaited(LAME_DUCK);
        ShutdownFixture.await(shutdown);
        seen.add(shutdown.state());

        assertThat(seen)
                .containsExactly(
                        State.RUNNING,
                        State.LAME_DUCK,
                        State.DRAINING,
                        State.DRAINING,
                        State.DRAINING,
                        State.CLOSING,
                        State.STOPPED);
    }

    @Test
    void awaitIntakeClosed_shutdownBegins_theWaitEndsEarly() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();
        CountDownLatch announced = new CountDownLatch(1);
        shutdown.on(Phase.ANNOUNCE, "slow", deadline -> announced.await());
        CompletableFuture<Boolean> backOff = new CompletableFuture<>();
        Thread waiting = new Thread(() -> {
            try {
                backOff.complete(shutdown.awaitIntakeClosed(Duration.ofMinutes(5)));
            } catch (InterruptedException e) {
                backOff.completeExceptionally(e);
            }
        });
        waiting.start();
        fixture.time.awaitWaiterUntil(Duration.ofMinutes(5));

        shutdown.shutdown(REASON);

        assertThat(shutdown.awaitIntakeClosed(Duration.ZERO)).isTrue();
        assertThat(backOff.get(20, SECONDS)).isTrue();
        waiting.join();
        announced.countDown();
    }

    @Test
    void awaitIntakeClosed_timePasses_isFalse() throws Exception {
        GracefulShutdown shutdown = fixture.builder().build();

        assertThat(shutdown.awaitIntakeClosed(Duration.ZERO)).isFalse();
        assertThatThrownBy(() -> shutdown.awaitIntakeClosed(Duration.ofMillis(-1)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
