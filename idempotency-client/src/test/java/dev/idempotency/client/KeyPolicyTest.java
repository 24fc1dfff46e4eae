package dev.idempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.idempotency.IdempotencyKey;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The rules as another client asks them, before and after its attempts. */
class KeyPolicyTest {
    private static final IdempotencyKey KEY = IdempotencyKey.of("5b0a4d5e-2f5b-5c1e-9a39-6b1e7f0c2d11");
    private static final URI CHARGES = URI.create("https://provider.example/charges");
    private static final byte[] BODY = "amount=10".getBytes(StandardCharsets.US_ASCII);
    private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");

    private Instant now = NOW;
    private final KeyPolicy policy = KeyPolicy.of(ProviderFormat.of("Idempotency-Key", Duration.ofHours(24)))
            .withClock(() -> now);

    private static IllegalArgumentException refused(KeyedCall call, String method, URI uri, byte[] body) {
        return catchThrowableOfType(
                IllegalArgumentException.class, () -> call.beginAttempt(method, uri, List.of(), body));
    }

    @Test
    void beginAttempt_everyAttempt_getsTheSameHeader() {
        KeyedCall call = policy.call(KEY);
        for (int attempt = 1; attempt <= 3; attempt++) {
            assertThat(call.beginAttempt("POST", CHARGES, List.of(), BODY.clone()))
                    .contains(KEY.value());
        }
    }

    @Test
    void beginAttempt_asTheProviderWantsIt() {
        KeyPolicy draft = KeyPolicy.of(ProviderFormats.draft(Duration.ofHours(24)));
        assertThat(draft.call(KEY).beginAttempt("POST", CHARGES, List.of(), BODY))
                .contains("\"" + KEY.value() + "\"");
        KeyPolicy amazon = KeyPolicy.of(ProviderFormats.amazonPay());
        assertThat(amazon.call(KEY)
                        .beginAttempt("POST", CHARGES, List.of(), BODY)
                        .orElseThrow())
                .hasSize(32);
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "head", "OPTIONS", "TRACE"})
    void beginAttempt_safeMethod_getsNoKey(String method) {
        assertThat(policy.call(KEY).beginAttempt(method, CHARGES, List.of(), new byte[0]))
                .isEmpty();
        policy.requireKey(method, List.of());
    }

    @Test
    void beginAttempt_callersHeader_isNeverOverwritten() {
        KeyedCall call = policy.call(KEY);
        assertThat(call.beginAttempt("POST", CHARGES, List.of(KEY.value()), BODY))
                .isEmpty();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> call.beginAttempt("POST", CHARGES, List.of("another"), BODY))
                .withMessageContaining("another key");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> call.beginAttempt("POST", CHARGES, List.of(KEY.value(), KEY.value()), BODY));
    }

    @Test
    void beginAttempt_somethingElseThanTheFirst_isRefused() {
        KeyedCall call = policy.call(KEY);
        call.beginAttempt("POST", CHARGES, List.of(), BODY);
        assertThat(refused(call, "POST", CHARGES, "amount=11".getBytes(StandardCharsets.US_ASCII)))
                .hasMessageContaining("another body");
        assertThat(refused(call, "PUT", CHARGES, BODY)).hasMessageContaining("another method");
        assertThat(refused(call, "POST", CHARGES.resolve("/refunds"), BODY)).hasMessageContaining("address");
        assertThat(refused(call, "POST", URI.create("https://elsewhere.example/charges"), BODY))
                .hasMessageContaining("origin");
        assertThat(call.beginAttempt("POST", CHARGES, List.of(), BODY)).isPresent();
    }

    @Test
    void beginAttempt_keyThatTheProviderMayHaveForgotten_isTooOld() {
        KeyedCall call = policy.call(KEY);
        Duration usable = Duration.ofHours(24).minusMinutes(10).minusSeconds(30);
        now = NOW.plus(usable);
        assertThat(call.beginAttempt("POST", CHARGES, List.of(), BODY)).isPresent();
        now = NOW.plus(usable).plusSeconds(1);
        assertThatThrownBy(() -> call.beginAttempt("POST", CHARGES, List.of(), BODY))
                .isInstanceOfSatisfying(
                        KeyTooOldException.class, e -> assertThat(e.age()).isEqualTo(usable.plusSeconds(1)))
                .hasMessageContaining("nothing was sent");
        assertThatThrownBy(() ->
                        policy.call(KEY, NOW.minus(Duration.ofHours(1))).beginAttempt("POST", CHARGES, List.of(), BODY))
                .isInstanceOf(KeyTooOldException.class);
        assertThat(policy.call(KEY, now.plusSeconds(60)).beginAttempt("POST", CHARGES, List.of(), BODY))
                .isPresent();
    }

    @Test
    void requireKey_unsafeWithoutOne_isRefusedAndNoneIsDrawn() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> policy.requireKey("POST", List.of()))
                .withMessageContaining("Idempotency-Key");
        assertThatIllegalArgumentException().isThrownBy(() -> policy.requireKey("DELETE", List.of("a", "b")));
        policy.requireKey("POST", List.of("a"));
    }

    @Test
    void advise_tellsAnswersFromWhatMayBeAskedAgain() {
        for (int status : new int[] {200, 201, 303, 400, 401, 404, 409, 422}) {
            assertThat(policy.advise(status, Map.of())).isEqualTo(new RetryAdvice.Answer());
        }
        for (int status : new int[] {408, 425, 429, 500, 502, 503, 504}) {
            assertThat(policy.advise(status, Map.of())).isEqualTo(new RetryAdvice.Retry(Duration.ZERO));
        }
        assertThat(policy.advise(409, Map.of("retry-after", List.of("7"))))
                .isEqualTo(new RetryAdvice.Retry(Duration.ofSeconds(7)));
        assertThat(policy.advise(503, Map.of("Retry-After", List.of("Thu, 01 Jan 2026 12:00:09 GMT"))))
                .isEqualTo(new RetryAdvice.Retry(Duration.ofSeconds(9)));
        KeyPolicy stripe = KeyPolicy.of(ProviderFormats.stripe());
        assertThat(stripe.advise(500, Map.of("Stripe-Should-Retry", List.of("false"))))
                .isEqualTo(new RetryAdvice.Stop());
    }

    @Test
    void advise_oneNameInTwoSpellings_isReadOnce() {
        assertThat(policy.advise(503, Map.of("Retry-After", List.of("7"), "retry-after", List.of("7"))))
                .isEqualTo(new RetryAdvice.Retry(Duration.ofSeconds(7)));
    }

    /** HttpURLConnection gives the status line under no name. */
    @Test
    void advise_headerWithoutAName_isSkipped() {
        Map<String, List<String>> headers = new HashMap<>(Map.of("Retry-After", List.of("7")));
        headers.put(null, List.of("HTTP/1.1 503 Service Unavailable"));
        assertThat(policy.advise(503, headers)).isEqualTo(new RetryAdvice.Retry(Duration.ofSeconds(7)));
    }

    @Test
    void withAttemptTimeout_outOfRange_isRefused() {
        KeyPolicy qonto = KeyPolicy.of(ProviderFormats.qonto());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> qonto.withAttemptTimeout(Duration.ofMinutes(29)))
                .withMessageContaining("retention");
        assertThatIllegalArgumentException().isThrownBy(() -> qonto.withAttemptTimeout(Duration.ZERO));
        KeyPolicy shortest = KeyPolicy.of(ProviderFormat.of("Idempotency-Key", Duration.ofSeconds(1)));
        assertThat(shortest.call(KEY).beginAttempt("POST", CHARGES, List.of(), BODY))
                .isPresent();
    }

    @Test
    void texts_neverShowTheKey() {
        assertThat(policy.call(KEY).toString()).doesNotContain(KEY.value());
    }
}
