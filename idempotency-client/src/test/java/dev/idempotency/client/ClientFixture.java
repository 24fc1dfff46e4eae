package dev.idempotency.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotencyKey;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;

/** A client that waits little, and a provider for it to call. */
abstract class ClientFixture {
    static final Duration SOON = Duration.ofSeconds(60);
    static final IdempotencyKey KEY = IdempotencyKey.of("5b0a4d5e-2f5b-5c1e-9a39-6b1e7f0c2d11");
    static final ProviderFormat FORMAT = ProviderFormat.of("Idempotency-Key", Duration.ofHours(24));

    final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    final Provider provider = new Provider();
    IdempotentHttpClient client = quick().build();

    IdempotentHttpClientBuilder quick() {
        return quick(FORMAT);
    }

    IdempotentHttpClientBuilder quick(ProviderFormat format) {
        return IdempotentHttpClient.builder(http, format).backOff(Duration.ofMillis(10), Duration.ofMillis(20));
    }

    void use(IdempotentHttpClientBuilder builder) {
        client.close();
        client = builder.build();
    }

    @AfterEach
    void stop() {
        client.close();
        provider.close();
    }

    HttpRequest request() {
        return request(provider.uri("/charges"));
    }

    static HttpRequest request(URI uri) {
        return HttpRequest.newBuilder(uri)
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString("amount=10"))
                .build();
    }

    CallOutcome<String> post() throws InterruptedException {
        return client.send(request(), KEY, BodyHandlers.ofString());
    }

    static void assertAnswered(CallOutcome<String> outcome, int status, int attempts) {
        assertThat(outcome).isInstanceOf(CallOutcome.Answered.class);
        assertThat(((CallOutcome.Answered<String>) outcome).response().statusCode())
                .isEqualTo(status);
        assertThat(outcome.attempts()).isEqualTo(attempts);
    }

    static CallOutcome.Unknown<String> assertUnknown(CallOutcome<String> outcome, GiveUp reason, int attempts) {
        assertThat(outcome).isInstanceOf(CallOutcome.Unknown.class);
        CallOutcome.Unknown<String> unknown = (CallOutcome.Unknown<String>) outcome;
        assertThat(unknown.reason()).isEqualTo(reason);
        assertThat(unknown.attempts()).isEqualTo(attempts);
        return unknown;
    }

    void assertOneKeyAndEqualBytes(int requests) {
        assertThat(provider.received).hasSize(requests).allSatisfy(received -> {
            assertThat(received.keys()).containsExactly(KEY.value());
            assertThat(received.body()).isEqualTo("amount=10");
        });
    }

    static int unusedPort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
