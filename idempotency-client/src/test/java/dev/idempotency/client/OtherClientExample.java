package dev.idempotency.client;

import dev.idempotency.IdempotencyKey;
import java.net.URI;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** The code that the module's page shows, compiled. */
abstract class OtherClientExample {
    private final KeyPolicy policy = KeyPolicy.of(ProviderFormats.adyen());

    void pay(IdempotencyKey key, Instant firstUsedAt, URI uri, byte[] body) {
        KeyedCall call = policy.call(key, firstUsedAt);
        boolean again = true;
        while (again) {
            String header = call.beginAttempt("POST", uri, List.of(), body).orElseThrow();
            int status = send(uri, Map.of(policy.format().headerName(), header), body);
            again = policy.advise(status, answerHeaders()) instanceof RetryAdvice.Retry && waited();
        }
    }

    abstract int send(URI uri, Map<String, String> headers, byte[] body);

    abstract Map<String, List<String>> answerHeaders();

    abstract boolean waited();
}
