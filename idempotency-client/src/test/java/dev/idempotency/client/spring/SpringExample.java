package dev.idempotency.client.spring;

import static dev.idempotency.client.spring.IdempotencyKeyInterceptor.under;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.client.KeyPolicy;
import dev.idempotency.client.KeyedCall;
import dev.idempotency.client.ProviderFormats;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Redirect;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpEntity;
import org.springframework.http.HttpMethod;
import org.springframework.http.ResponseEntity;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestTemplate;

/** The code that the module's page shows, compiled. */
final class SpringExample {
    record Order(Instant placedAt) {}

    private final KeyPolicy policy;
    private final RestClient restClient;

    SpringExample() {
        KeyPolicy policy = KeyPolicy.of(ProviderFormats.stripe());
        HttpClient http =
                HttpClient.newBuilder().followRedirects(Redirect.NEVER).build();
        RestClient restClient = RestClient.builder()
                .requestFactory(new JdkClientHttpRequestFactory(http))
                .requestInterceptor(IdempotencyKeyInterceptor.of(policy))
                .build();
        this.policy = policy;
        this.restClient = restClient;
    }

    String charge(IdempotencyContext context, Order order, URI charges, String body) {
        KeyedCall call = policy.call(context.derive("charge"), order.placedAt());
        // From here on may be repeated, under the same call.
        return String.valueOf(restClient
                .post()
                .uri(charges)
                .attributes(under(call))
                .body(body)
                .retrieve()
                .body(String.class));
    }

    @Nullable
    ResponseEntity<String> charge(RestTemplate template, KeyedCall call, URI charges, String body) {
        return template.execute(
                charges,
                HttpMethod.POST,
                under(call, template.httpEntityCallback(new HttpEntity<>(body), String.class)),
                template.responseEntityExtractor(String.class));
    }
}
