package dev.idempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import dev.idempotency.testkit.fault.Gate;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What each call leaves in the meters. */
class ClientMetersTest extends ClientFixture {
    private final MeterRegistry registry = new SimpleMeterRegistry();

    @BeforeEach
    void listen() {
        use(quick().listener(ClientMeters.of(registry, "bank")));
    }

    /** The call's end is told to its caller and to the listener at the same time. */
    private void assertCounted(CallReport.Ending ending, String status, int attempts) {
        await().atMost(SOON).untilAsserted(() -> {
            List<String> tags =
                    List.of("provider", "bank", "outcome", ending.name().toLowerCase(Locale.ROOT), "status", status);
            assertThat(registry.find("idempotency.client.calls")
                            .tags(tags.toArray(String[]::new))
                            .timers())
                    .singleElement()
                    .satisfies(timer -> assertThat(timer.count()).isEqualTo(1));
            DistributionSummary summary = registry.get("idempotency.client.attempts")
                    .tags(tags.toArray(String[]::new))
                    .summary();
            assertThat(summary.totalAmount()).isEqualTo(attempts);
        });
    }

    @Test
    void answered_afterTwoAttempts() throws Exception {
        provider.then(Provider.actThenDrop());
        post();
        assertCounted(CallReport.Ending.ANSWERED, "2xx", 2);
    }

    @Test
    void answered_byARefusal() throws Exception {
        provider.then(Provider.status(422));
        post();
        assertCounted(CallReport.Ending.ANSWERED, "4xx", 1);
    }

    @Test
    void unknown_withTheLastStatus() throws Exception {
        use(quick().maxAttempts(2).listener(ClientMeters.of(registry, "bank")));
        provider.then(Provider.status(503)).then(Provider.status(503));
        post();
        assertCounted(CallReport.Ending.UNKNOWN, "5xx", 2);
    }

    @Test
    void notSent_nothingListens() throws Exception {
        use(quick().maxAttempts(2).listener(ClientMeters.of(registry, "bank")));
        client.send(request(Provider.uri(unusedPort(), "/charges")), KEY, BodyHandlers.ofString());
        assertCounted(CallReport.Ending.NOT_SENT, "none", 2);
    }

    @Test
    void keyExpired_nothingSent() throws Exception {
        client.send(request(), KEY, Instant.now().minus(Duration.ofHours(25)), BodyHandlers.ofString());
        assertCounted(CallReport.Ending.KEY_EXPIRED, "none", 0);
    }

    @Test
    void cancelled_byItsCaller() throws Exception {
        Gate gate = new Gate();
        provider.then((p, exchange, request) -> gate.pass());
        CompletableFuture<CallOutcome<String>> running = client.sendAsync(request(), KEY, BodyHandlers.ofString());
        gate.awaitReached(SOON);
        running.cancel(true);
        gate.open();
        assertCounted(CallReport.Ending.CANCELLED, "none", 1);
    }

    @Test
    void refused_bodyTooLarge() {
        use(quick().maxBodyBytes(1).listener(ClientMeters.of(registry, "bank")));
        assertThatIllegalArgumentException().isThrownBy(this::post);
        assertCounted(CallReport.Ending.REFUSED, "none", 0);
    }

    @Test
    void tags_holdNoKeyAndNoAddress() throws Exception {
        post();
        assertCounted(CallReport.Ending.ANSWERED, "2xx", 1);
        assertThat(registry.getMeters().stream()
                        .flatMap(meter -> meter.getId().getTags().stream())
                        .map(Tag::getValue))
                .containsOnly("bank", "answered", "2xx");
    }

    @Test
    void listenerThatThrows_changesNothing() throws Exception {
        use(quick().listener(report -> {
            throw new IllegalStateException("thrown by the test");
        }));
        assertAnswered(client.sendAsync(request(), KEY, BodyHandlers.ofString()).get(60, TimeUnit.SECONDS), 201, 1);
    }
}
