package dev.idempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Reason;
import dev.idempotency.testkit.fault.Gate;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Calls that are ended from this side: by their caller, by a closed client, by a shutdown. */
class CallEndTest extends ClientFixture {
    @Test
    void interrupted_throws_noFurtherAttempt() throws Exception {
        Gate gate = new Gate();
        provider.then((p, exchange, request) -> {
            gate.pass();
            Provider.status(500).take(p, exchange, request);
        });
        AtomicBoolean interrupted = new AtomicBoolean();
        Thread caller = new Thread(() -> {
            try {
                post();
            } catch (InterruptedException expected) {
                interrupted.set(true);
            }
        });
        caller.start();
        gate.awaitReached(SOON);
        caller.interrupt();
        caller.join(SOON.toMillis());
        assertThat(interrupted).isTrue();
        gate.open();
        await().during(Duration.ofMillis(500)).until(() -> provider.received.size() == 1);
    }

    @Test
    void interruptedInBackOff_throwsAtOnce() throws Exception {
        use(quick().backOff(Duration.ofHours(1), Duration.ofHours(1)).totalTime(Duration.ofHours(24)));
        provider.then(Provider.status(500));
        Thread caller = new Thread(() -> {
            try {
                post();
            } catch (InterruptedException expected) {
                Thread.currentThread().interrupt();
            }
        });
        caller.start();
        await().atMost(SOON).until(() -> provider.received.size() == 1);
        caller.interrupt();
        caller.join(SOON.toMillis());
        assertThat(caller.isAlive()).isFalse();
    }

    @Test
    void cancelled_cancelsTheAttempt() throws Exception {
        Gate gate = new Gate();
        provider.then((p, exchange, request) -> gate.pass());
        CompletableFuture<CallOutcome<String>> running = client.sendAsync(request(), KEY, BodyHandlers.ofString());
        gate.awaitReached(SOON);
        running.cancel(true);
        gate.open();
        assertThatThrownBy(() -> running.get(1, TimeUnit.SECONDS)).isInstanceOf(CancellationException.class);
        assertThat(provider.received).hasSize(1);
    }

    @Test
    void close_endsBackOff_andRefusesNewCalls() throws Exception {
        use(quick().backOff(Duration.ofHours(1), Duration.ofHours(1)).totalTime(Duration.ofHours(24)));
        provider.then(Provider.status(500));
        CompletableFuture<CallOutcome<String>> running = client.sendAsync(request(), KEY, BodyHandlers.ofString());
        await().atMost(SOON).until(() -> provider.received.size() == 1);
        client.close();
        client.close();
        assertUnknown(running.get(60, TimeUnit.SECONDS), GiveUp.CLOSED, 1);
        assertThatIllegalStateException().isThrownBy(this::post);
    }

    @Test
    void shutdown_endsBackOffEarly() throws Exception {
        GracefulShutdown shutdown =
                GracefulShutdown.builder().grace(Duration.ofSeconds(60)).build();
        use(quick().shutdown(shutdown)
                .backOff(Duration.ofHours(1), Duration.ofHours(1))
                .totalTime(Duration.ofHours(24)));
        provider.then(Provider.status(500));
        CompletableFuture<CallOutcome<String>> running = client.sendAsync(request(), KEY, BodyHandlers.ofString());
        await().atMost(SOON).until(() -> provider.received.size() == 1);
        shutdown.shutdown(new Reason("test")).toCompletableFuture().get(60, TimeUnit.SECONDS);
        assertUnknown(running.get(60, TimeUnit.SECONDS), GiveUp.SHUTTING_DOWN, 1);
    }

    @Test
    void shutdown_callUnderWay_isWaitedFor_andNotRepeated() throws Exception {
        GracefulShutdown shutdown =
                GracefulShutdown.builder().grace(Duration.ofSeconds(60)).build();
        use(quick().shutdown(shutdown));
        Gate gate = new Gate();
        provider.then((p, exchange, request) -> {
            gate.pass();
            Provider.status(503).take(p, exchange, request);
        });
        CompletableFuture<CallOutcome<String>> running = client.sendAsync(request(), KEY, BodyHandlers.ofString());
        gate.awaitReached(SOON);
        CompletableFuture<?> ended = shutdown.shutdown(new Reason("test")).toCompletableFuture();
        assertThat(shutdown.inFlight().active()).isEqualTo(1);
        assertThat(ended.isDone()).isFalse();
        gate.open();
        assertUnknown(running.get(60, TimeUnit.SECONDS), GiveUp.SHUTTING_DOWN, 1);
        ended.get(60, TimeUnit.SECONDS);
        assertThat(provider.received).hasSize(1);
    }

    @Test
    void shutdownBegun_workInHandMayStillCall() throws Exception {
        GracefulShutdown shutdown = GracefulShutdown.ofDefaults();
        use(quick().shutdown(shutdown));
        shutdown.shutdown(new Reason("test"));
        assertAnswered(post(), 201, 1);
    }
}
