package dev.idempotency.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.testkit.fault.Gate;
import dev.idempotency.testkit.fault.TcpProxy;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Connections that cannot be had, break, or stand still. */
class CallConnectionTest extends ClientFixture {
    @Test
    void nothingListens_isNotSent() throws Exception {
        int port = unusedPort();
        CallOutcome<String> outcome =
                client.send(request(Provider.uri(port, "/charges")), KEY, BodyHandlers.ofString());
        assertThat(outcome).isInstanceOfSatisfying(CallOutcome.NotSent.class, notSent -> {
            assertThat(notSent.attempts()).isEqualTo(5);
            assertThat(notSent.reason()).isEqualTo(GiveUp.ATTEMPTS);
        });
    }

    @Test
    void refusedThenReachable_isAnswered() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(provider.port())) {
            proxy.refuse();
            use(quick().maxAttempts(100));
            CompletableFuture<CallOutcome<String>> running =
                    client.sendAsync(request(Provider.uri(proxy.port(), "/charges")), KEY, BodyHandlers.ofString());
            proxy.resume();
            CallOutcome<String> outcome = running.get(60, TimeUnit.SECONDS);
            assertThat(outcome).isInstanceOf(CallOutcome.Answered.class);
            assertOneKeyAndEqualBytes(1);
        }
    }

    @Test
    void onceSentThenRefused_isUnknown() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(provider.port())) {
            provider.then((p, exchange, request) -> {
                proxy.refuse();
                exchange.close();
            });
            CallOutcome<String> outcome =
                    client.send(request(Provider.uri(proxy.port(), "/charges")), KEY, BodyHandlers.ofString());
            assertUnknown(outcome, GiveUp.ATTEMPTS, 5);
        }
    }

    @Test
    void answerLostOnTheWire_sameKey_oneEffect() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(provider.port())) {
            proxy.loseAnswerTo("POST /charges");
            CallOutcome<String> outcome =
                    client.send(request(Provider.uri(proxy.port(), "/charges")), KEY, BodyHandlers.ofString());
            assertAnswered(outcome, 201, 2);
            assertOneKeyAndEqualBytes(2);
            assertThat(provider.effects).hasValue(1);
        }
    }

    @Test
    void attemptTooSlow_isCancelledAndRepeated() throws Exception {
        Gate gate = new Gate();
        provider.then((p, exchange, request) -> {
            gate.pass();
            exchange.close();
        });
        use(quick().attemptTimeout(Duration.ofMillis(500)));
        assertAnswered(post(), 201, 2);
        gate.open();
    }

    @Test
    void bodyOfAnswerStalls_isCancelledAndRepeated() throws Exception {
        Gate gate = new Gate();
        provider.then((p, exchange, request) -> {
            exchange.sendResponseHeaders(201, 100);
            exchange.getResponseBody().write(1);
            exchange.getResponseBody().flush();
            gate.pass();
            exchange.close();
        });
        use(quick().attemptTimeout(Duration.ofMillis(500)));
        assertAnswered(post(), 201, 2);
        gate.open();
    }
}
