package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Protection;
import dev.idempotency.testkit.http.HttpAnswer;
import dev.idempotency.testkit.http.RawHttp;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The filter with the canonical fingerprint, over a real socket. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CanonicalJsonIT {
    private static final String JSON = "application/json; charset=utf-8";

    private final RawHttp http = new RawHttp(Duration.ofSeconds(60));
    private OrdersService service;

    @BeforeAll
    void start() throws Exception {
        service = new OrdersService(
                TestDatabase.h2(),
                JettyServer::new,
                Protection.TRANSACTIONAL,
                filter -> filter.fingerprints(FingerprintFunction.canonicalJson(5, 200)),
                UnaryOperator.identity(),
                Map.of());
    }

    @AfterAll
    void stop() throws Exception {
        service.close();
    }

    private HttpAnswer post(String key, String type, String body) throws IOException {
        return http.send(
                "POST", service.uri("orders"), List.of("Idempotency-Key: " + key, "Content-Type: " + type), body);
    }

    private static String newKey() {
        return UUID.randomUUID().toString();
    }

    @Test
    void post_sameDocumentWrittenOtherwise_getsTheFirstAnswer() throws IOException {
        String key = newKey();
        HttpAnswer first = post(key, JSON, "{\"amount\":1.0,\"to\":\"ann\"}");
        HttpAnswer repeat = post(key, "application/vnd.order+json", "{ \"to\": \"ann\", \"amount\": 1 }");
        HttpAnswer other = post(key, JSON, "{\"amount\":1.01,\"to\":\"ann\"}");

        assertThat(first.status()).isEqualTo(201);
        assertThat(repeat.status()).isEqualTo(201);
        assertThat(repeat.body()).isEqualTo(first.body());
        assertThat(other.status()).isEqualTo(422);
    }

    @Test
    void post_unreadableJson_isRefusedAndTheKeyIsFree() throws IOException {
        String key = newKey();
        for (String body : List.of("{", "{\"a\":1,\"a\":2}", "[[[[[[]]]]]]", "{} {}")) {
            HttpAnswer answer = post(key, JSON, body);
            assertThat(answer.status()).as(body).isEqualTo(400);
            assertThat(answer.body()).contains("malformed_body");
        }
        HttpAnswer large = post(key, JSON, "\"" + "x".repeat(200) + "\"");
        assertThat(large.status()).isEqualTo(413);
        assertThat(large.body()).contains("body_too_large");

        assertThat(post(key, JSON, "[1e999999999]").status()).isEqualTo(201);
        assertThat(post(key, JSON, "[1e999999998]").status()).isEqualTo(422);
    }

    @Test
    void post_otherType_isComparedByItsBytes() throws IOException {
        String key = newKey();
        assertThat(post(key, "text/plain", "{").status()).isEqualTo(201);
        assertThat(post(key, "text/plain", "{ ").status()).isEqualTo(422);
    }
}
