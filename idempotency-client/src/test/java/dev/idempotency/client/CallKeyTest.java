package dev.idempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The key of a call: whose it is, how it stands in its header, and how old it may be. */
class CallKeyTest extends ClientFixture {
    @Test
    void callersHeader_isKept_asItIs() throws Exception {
        HttpRequest request = HttpRequest.newBuilder(request(), (name, value) -> true)
                .header("idempotency-key", "my own")
                .build();
        provider.then(Provider.actThenDrop());
        assertAnswered(client.send(request, BodyHandlers.ofString()), 201, 2);
        assertThat(provider.received).extracting(Provider.Received::keys).containsOnly(List.of("my own"));
    }

    @Test
    void callersHeader_otherThanTheKey_isRefused_nothingSent() {
        HttpRequest request = HttpRequest.newBuilder(request(), (name, value) -> true)
                .header("Idempotency-Key", "another-4711")
                .build();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.send(request, KEY, BodyHandlers.ofString()))
                .withMessageContaining("another key")
                .withMessageNotContaining("another-4711")
                .withMessageNotContaining(KEY.value());
        assertThat(provider.received).isEmpty();
    }

    @Test
    void noKey_unsafeMethod_isRefused_nothingDrawn() {
        assertThatIllegalArgumentException().isThrownBy(() -> client.send(request(), BodyHandlers.ofString()));
        assertThat(provider.received).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "HEAD", "OPTIONS"})
    void safeMethod_getsNoKey(String method) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(provider.uri("/charges"))
                .method(method, BodyPublishers.noBody())
                .build();
        provider.then(Provider.status(200));
        client.send(request, KEY, BodyHandlers.discarding());
        assertThat(provider.received).singleElement().satisfies(received -> {
            assertThat(received.keys()).isEmpty();
            assertThat(received.method()).isEqualTo(method);
        });
    }

    @Test
    void quotedForm_andOtherHeader() throws Exception {
        use(quick(ProviderFormats.draft(Duration.ofHours(1))));
        post();
        assertThat(provider.received.get(0).keys()).containsExactly("\"" + KEY.value() + "\"");
    }

    @Test
    void keyOld_isExpired_nothingSent() throws Exception {
        CallOutcome<String> outcome =
                client.send(request(), KEY, Instant.now().minus(Duration.ofHours(24)), BodyHandlers.ofString());
        assertThat(outcome).isInstanceOfSatisfying(CallOutcome.KeyExpired.class, expired -> {
            assertThat(expired.attempts()).isZero();
            assertThat(expired.age()).isGreaterThanOrEqualTo(Duration.ofHours(24));
        });
        assertThat(provider.received).isEmpty();
    }

    @Test
    void keyNearItsEnd_noAttemptThatCouldOutliveIt() throws Exception {
        Duration retention = Duration.ofHours(24);
        Duration justUsable = retention.minus(Duration.ofMinutes(10)).minus(Duration.ofSeconds(30));
        assertAnswered(
                client.send(request(), KEY, Instant.now().minus(justUsable).plusSeconds(60), BodyHandlers.ofString()),
                201,
                1);
        assertThat(client.send(request(), KEY, Instant.now().minus(justUsable), BodyHandlers.ofString()))
                .isInstanceOf(CallOutcome.KeyExpired.class);
    }

    @Test
    void keyExpiresDuringTheCall_noFurtherAttempt_andNoWaitForOne() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        use(quick(ProviderFormats.qonto())
                .backOff(Duration.ofHours(1), Duration.ofHours(1))
                .totalTime(Duration.ofHours(5))
                .nanoTime(() -> TimeUnit.MINUTES.toNanos(calls.getAndIncrement())));
        provider.then(Provider.status(500));
        CallOutcome<String> outcome =
                client.sendAsync(request(), KEY, BodyHandlers.ofString()).get(60, TimeUnit.SECONDS);
        assertThat(outcome).isInstanceOf(CallOutcome.KeyExpired.class);
        assertThat(outcome.attempts()).isEqualTo(1);
        assertThat(provider.received).hasSize(1);
    }
}
