package dev.idempotency.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.testkit.fault.TcpProxy;
import dev.idempotency.testkit.process.ChildJvm;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The JDK's client repeats a POST by itself if a system property says so, which it reads once per process. */
class JdkRetryIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final String OUTCOME = "outcome ";

    private final Provider provider = new Provider();

    @AfterEach
    void stop() {
        provider.close();
    }

    @Test
    void resentByTheJdk_carriesTheSameKeyAndBytes() {
        provider.then(Provider::act).then(Provider.actThenDrop());
        assertThat(outcomeOfTheSecondCall(provider.port(), true)).isEqualTo("Answered after 1");
        assertThat(provider.received).hasSize(3);
        assertThat(provider.received.subList(1, 3)).allSatisfy(received -> {
            assertThat(received.keys()).containsExactly("key-2");
            assertThat(received.body()).isEqualTo("amount=2");
        });
        assertThat(provider.effectsByKey).containsEntry("key-2", 2);
        assertThat(provider.effects).hasValue(2);
    }

    @Test
    void withoutTheProperty_theJdkSendsOnce() {
        provider.then(Provider::act).then(Provider.actThenDrop());
        assertThat(outcomeOfTheSecondCall(provider.port(), false)).isEqualTo("Unknown after 1");
        assertThat(provider.received).hasSize(2);
    }

    @Test
    void resentByTheJdk_andRefusedThen_isNotClaimedToBeUnsent() {
        try (TcpProxy proxy = TcpProxy.to(provider.port())) {
            provider.then(Provider::act).then((p, exchange, request) -> {
                proxy.refuse();
                Provider.actThenDrop().take(p, exchange, request);
            });
            assertThat(outcomeOfTheSecondCall(proxy.port(), true)).isEqualTo("Unknown after 1");
            assertThat(provider.effects).hasValue(2);
        }
    }

    private static String outcomeOfTheSecondCall(int port, boolean property) {
        ChildJvm.Builder builder = ChildJvm.of(TwoCalls.class).arguments(port);
        if (property) {
            builder.systemProperty("jdk.httpclient.enableAllMethodRetry", true);
        }
        try (ChildJvm child = builder.start()) {
            child.awaitLineWith(OUTCOME, SOON);
            return child.awaitLineWith(OUTCOME, SOON);
        }
    }

    /** Two calls over one connection, each with one attempt. */
    static final class TwoCalls {
        private TwoCalls() {}

        public static void main(String[] arguments) throws InterruptedException {
            HttpClient http =
                    HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
            try (IdempotentHttpClient client = IdempotentHttpClient.builder(http, ProviderFormats.stripe())
                    .maxAttempts(1)
                    .build()) {
                for (int number = 1; number <= 2; number++) {
                    HttpRequest request = HttpRequest.newBuilder(
                                    Provider.uri(Integer.parseInt(arguments[0]), "/charges"))
                            .POST(BodyPublishers.ofString("amount=" + number))
                            .build();
                    CallOutcome<String> outcome =
                            client.send(request, IdempotencyKey.of("key-" + number), BodyHandlers.ofString());
                    System.out.println(OUTCOME + outcome.getClass().getSimpleName() + " after " + outcome.attempts());
                }
            }
        }
    }
}
