package dev.idempotency.client.spring;

import static dev.idempotency.client.spring.IdempotencyKeyInterceptor.under;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.client.KeyPolicy;
import dev.idempotency.client.KeyTooOldException;
import dev.idempotency.client.KeyedCall;
import dev.idempotency.client.Provider;
import dev.idempotency.client.ProviderFormat;
import dev.idempotency.client.ProviderFormats;
import dev.idempotency.client.RetryAdvice;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.http.HttpEntity;
import org.springframework.http.HttpMethod;
import org.springframework.http.ResponseEntity;
import org.springframework.http.client.ClientHttpRequestFactory;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.http.client.SimpleClientHttpRequestFactory;
import org.springframework.web.client.HttpServerErrorException;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClientException;
import org.springframework.web.client.RestTemplate;

/** Spring's own clients with the interceptor, against a real server that remembers keys. */
class IdempotencyKeyInterceptorTest {
    private static final IdempotencyKey KEY = IdempotencyKey.of("5b0a4d5e-2f5b-5c1e-9a39-6b1e7f0c2d11");
    private static final ProviderFormat FORMAT = ProviderFormat.of("Idempotency-Key", Duration.ofHours(24));

    private final KeyPolicy policy = KeyPolicy.of(FORMAT);
    private final Provider provider = new Provider();

    @AfterEach
    void stop() {
        provider.close();
    }

    static Stream<Arguments> factories() {
        HttpClient http =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        return Stream.of(
                Arguments.argumentSet("java.net.http", new JdkClientHttpRequestFactory(http)),
                Arguments.argumentSet("HttpURLConnection", new SimpleClientHttpRequestFactory()));
    }

    private RestClient restClient(ClientHttpRequestFactory factory, KeyPolicy keys) {
        return RestClient.builder()
                .requestFactory(factory)
                .requestInterceptor(IdempotencyKeyInterceptor.of(keys))
                .build();
    }

    private RestClient restClient() {
        return restClient(new SimpleClientHttpRequestFactory(), policy);
    }

    private RestTemplate restTemplate(ClientHttpRequestFactory factory) {
        RestTemplate template = new RestTemplate(factory);
        template.setInterceptors(List.of(IdempotencyKeyInterceptor.of(policy)));
        return template;
    }

    private ResponseEntity<String> post(RestClient client, KeyedCall call, String body) {
        return client.post()
                .uri(provider.uri("/charges"))
                .attributes(under(call))
                .body(body)
                .retrieve()
                .toEntity(String.class);
    }

    private ResponseEntity<String> post(RestTemplate template, KeyedCall call, String body) {
        ResponseEntity<String> answer = template.execute(
                provider.uri("/charges"),
                HttpMethod.POST,
                under(call, template.httpEntityCallback(new HttpEntity<>(body), String.class)),
                template.responseEntityExtractor(String.class));
        assertThat(answer).isNotNull();
        return answer;
    }

    private void assertOneKey(int requests) {
        assertThat(provider.received).hasSize(requests).allSatisfy(received -> {
            assertThat(received.keys()).containsExactly(KEY.value());
            assertThat(received.body()).isEqualTo("amount=10");
        });
    }

    @ParameterizedTest
    @MethodSource("factories")
    void restClient_repeatsAroundTheCall_sendTheSameKey_oneEffect(ClientHttpRequestFactory factory) {
        RestClient client = restClient(factory, policy);
        KeyedCall call = policy.call(KEY);
        provider.then(Provider.status(503));
        assertThatThrownBy(() -> post(client, call, "amount=10"))
                .isInstanceOfSatisfying(
                        HttpServerErrorException.class,
                        e -> assertThat(policy.advise(e.getStatusCode().value(), Map.of()))
                                .isInstanceOf(RetryAdvice.Retry.class));
        assertThat(post(client, call, "amount=10").getStatusCode().value()).isEqualTo(201);
        assertThat(post(client, call, "amount=10").getStatusCode().value()).isEqualTo(201);
        assertOneKey(3);
        assertThat(provider.effects).hasValue(1);
    }

    @ParameterizedTest
    @MethodSource("factories")
    void restTemplate_repeatsAroundTheCall_sendTheSameKey_oneEffect(ClientHttpRequestFactory factory) {
        RestTemplate template = restTemplate(factory);
        KeyedCall call = policy.call(KEY);
        assertThat(post(template, call, "amount=10").getBody()).isEqualTo("charged");
        assertThat(post(template, call, "amount=10").getBody()).isEqualTo("charged");
        assertOneKey(2);
        assertThat(provider.effects).hasValue(1);
    }

    /** The connection breaks after the provider has acted; whether the transport repeats or the caller, it is one effect. */
    @ParameterizedTest
    @MethodSource("factories")
    void answerLost_repeatedUnderTheSameCall_oneEffect(ClientHttpRequestFactory factory) {
        RestClient client = restClient(factory, policy);
        KeyedCall call = policy.call(KEY);
        provider.then(Provider.actThenDrop()).then(Provider.actThenDrop());
        int failures = 0;
        while (provider.received.size() < 3) {
            try {
                post(client, call, "amount=10");
            } catch (RestClientException lost) {
                failures++;
            }
        }
        assertThat(failures).isPositive();
        assertThat(provider.effects).hasValue(1);
        assertThat(provider.received)
                .allSatisfy(received -> assertThat(received.keys()).containsExactly(KEY.value()));
    }

    @Test
    void repeat_withAnotherBody_isRefusedAndNotSent() {
        RestClient client = restClient();
        KeyedCall call = policy.call(KEY);
        post(client, call, "amount=10");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> post(client, call, "amount=11"))
                .withMessageContaining("another body");
        assertOneKey(1);
    }

    @Test
    void keyTooOld_isNotSent() {
        KeyedCall call = policy.call(KEY, Instant.now().minus(Duration.ofHours(25)));
        assertThatThrownBy(() -> post(restClient(), call, "amount=10")).isInstanceOf(KeyTooOldException.class);
        assertThat(provider.received).isEmpty();
    }

    @Test
    void unsafeRequestWithoutAKey_isRefusedAndNoneIsDrawn() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> restClient()
                        .post()
                        .uri(provider.uri("/charges"))
                        .body("amount=10")
                        .retrieve()
                        .toBodilessEntity())
                .withMessageContaining("Idempotency-Key");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> restTemplate(new SimpleClientHttpRequestFactory())
                        .postForEntity(provider.uri("/charges"), "amount=10", String.class));
        assertThat(provider.received).isEmpty();
    }

    @Test
    void callersHeader_staysAsItIs() {
        restClient()
                .post()
                .uri(provider.uri("/charges"))
                .header("Idempotency-Key", "my-own")
                .body("amount=10")
                .retrieve()
                .toBodilessEntity();
        assertThat(provider.received)
                .singleElement()
                .satisfies(received -> assertThat(received.keys()).containsExactly("my-own"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> restClient()
                        .post()
                        .uri(provider.uri("/charges"))
                        .header("Idempotency-Key", "my-own")
                        .attributes(under(policy.call(KEY)))
                        .body("amount=10")
                        .retrieve()
                        .toBodilessEntity())
                .withMessageContaining("another key");
        assertThat(provider.received).hasSize(1);
    }

    /** Nothing of one call is left for the next one of the same client. */
    @Test
    void key_doesNotOutliveItsCall() {
        RestClient client = restClient();
        post(client, policy.call(KEY), "amount=10");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.post()
                        .uri(provider.uri("/charges"))
                        .body("amount=20")
                        .retrieve()
                        .toBodilessEntity());
        post(client, policy.call(IdempotencyKey.of("another")), "amount=20");
        assertThat(provider.effectsByKey).containsOnlyKeys(KEY.value(), "another");
    }

    @Test
    void safeMethod_getsNoKey() {
        restClient()
                .get()
                .uri(provider.uri("/charges/1"))
                .attributes(under(policy.call(KEY)))
                .retrieve()
                .toBodilessEntity();
        assertThat(provider.received)
                .singleElement()
                .satisfies(received -> assertThat(received.keys()).isEmpty());
    }

    @Test
    void providersForm_isKept() {
        KeyPolicy draft = KeyPolicy.of(ProviderFormats.draft(Duration.ofHours(24)));
        RestClient client = restClient(new SimpleClientHttpRequestFactory(), draft);
        post(client, draft.call(KEY), "amount=10");
        assertThat(provider.received.get(0).keys()).containsExactly("\"" + KEY.value() + "\"");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> post(client, policy.call(KEY), "amount=10"))
                .withMessageContaining("another provider");
    }

    @ParameterizedTest
    @MethodSource("factories")
    void redirect_isNotFollowedWithTheKey(ClientHttpRequestFactory factory) {
        try (Provider elsewhere = new Provider()) {
            provider.then(
                    Provider.status(307, "Location", elsewhere.uri("/charges").toString()));
            post(restClient(factory, policy), policy.call(KEY), "amount=10");
            assertThat(elsewhere.received).isEmpty();
        }
    }

    /** The first bytes are read while the provider has not sent the last: the interceptor collects nothing. */
    @ParameterizedTest
    @MethodSource("factories")
    void response_isStreamed(ClientHttpRequestFactory factory) throws InterruptedException {
        CountDownLatch firstRead = new CountDownLatch(1);
        provider.then((p, exchange, request) -> {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write("first ".getBytes(StandardCharsets.US_ASCII));
            exchange.getResponseBody().flush();
            try {
                if (firstRead.await(60, TimeUnit.SECONDS)) {
                    exchange.getResponseBody().write("last".getBytes(StandardCharsets.US_ASCII));
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            exchange.close();
        });
        String read = restClient(factory, policy)
                .post()
                .uri(provider.uri("/report"))
                .attributes(under(policy.call(KEY)))
                .body("all")
                .exchange((request, response) -> readInTwo(response.getBody(), firstRead));
        assertThat(read).isEqualTo("first last");
    }

    private static String readInTwo(InputStream body, CountDownLatch firstRead) throws IOException {
        String first = new String(body.readNBytes(6), StandardCharsets.US_ASCII);
        firstRead.countDown();
        return first + new String(body.readAllBytes(), StandardCharsets.US_ASCII);
    }
}
