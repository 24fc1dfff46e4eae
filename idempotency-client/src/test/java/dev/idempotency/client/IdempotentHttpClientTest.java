package dev.idempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.idempotency.IdempotencyKey;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class IdempotentHttpClientTest extends ClientFixture {
    @Test
    void send_first_carriesTheKeyAndAnswers() throws Exception {
        CallOutcome<String> outcome = post();
        assertAnswered(outcome, 201, 1);
        assertOneKeyAndEqualBytes(1);
    }

    @Test
    void answerDroppedAfterActing_sameKeyAndBytes_oneEffect() throws Exception {
        provider.then(Provider.actThenDrop()).then(Provider.actThenDrop());
        assertAnswered(post(), 201, 3);
        assertOneKeyAndEqualBytes(3);
        assertThat(provider.effects).hasValue(1);
    }

    @Test
    void bodyOfAnswerCut_asksAgain() throws Exception {
        provider.then(Provider.actThenCutBody());
        assertAnswered(post(), 201, 2);
        assertOneKeyAndEqualBytes(2);
        assertThat(provider.effects).hasValue(1);
    }

    @Test
    void manyCallsAtOnce_nothingOfOneIsKeptForAnother() throws Exception {
        int number = 50;
        Set<String> failedOnce = ConcurrentHashMap.newKeySet();
        IntStream.range(0, 10 * number)
                .forEach(i -> provider.then((p, exchange, request) -> {
                    if (failedOnce.add(request.keys().get(0))) {
                        Provider.actThenDrop().take(p, exchange, request);
                    } else {
                        Provider.act(p, exchange, request);
                    }
                }));
        List<CompletableFuture<CallOutcome<String>>> running = IntStream.range(0, number)
                .mapToObj(i -> client.sendAsync(
                        HttpRequest.newBuilder(provider.uri("/charges"))
                                .POST(BodyPublishers.ofString("n=" + i))
                                .build(),
                        IdempotencyKey.of("key-" + i),
                        BodyHandlers.ofString()))
                .toList();
        for (CompletableFuture<CallOutcome<String>> call : running) {
            assertThat(call.get(60, TimeUnit.SECONDS)).isInstanceOf(CallOutcome.Answered.class);
        }
        assertThat(provider.effects).hasValue(number);
        assertThat(provider.received)
                .allSatisfy(received -> assertThat(received.keys())
                        .isEqualTo(Collections.singletonList(
                                "key-" + received.body().substring(2))));
    }

    @Test
    void options_outOfRange_areNamed() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> quick().maxAttempts(0).build())
                .withMessageContaining("maxAttempts");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> quick().attemptTimeout(Duration.ZERO).build())
                .withMessageContaining("attemptTimeout");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> quick().totalTime(Duration.ofDays(2)).build())
                .withMessageContaining("totalTime");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> quick().backOff(Duration.ofSeconds(2), Duration.ofSeconds(1))
                        .build())
                .withMessageContaining("backOff");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> quick(ProviderFormats.qonto())
                        .attemptTimeout(Duration.ofMinutes(29))
                        .build())
                .withMessageContaining("retention");
    }

    @Test
    void httpClientThatFollowsRedirects_isRefused() {
        HttpClient following = HttpClient.newBuilder()
                .followRedirects(HttpClient.Redirect.NORMAL)
                .build();
        assertThatIllegalArgumentException().isThrownBy(() -> IdempotentHttpClient.ofDefaults(following, FORMAT));
    }
}
