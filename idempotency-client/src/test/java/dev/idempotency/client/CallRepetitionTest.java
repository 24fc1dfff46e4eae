package dev.idempotency.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is sent again after an answer, when, and for how long. */
class CallRepetitionTest extends ClientFixture {
    @Test
    void conflictInProgress_thenCreated() throws Exception {
        provider.then(Provider.status(409, "Retry-After", "0")).then(Provider.status(409, "Retry-After", "0"));
        assertAnswered(post(), 201, 3);
        assertOneKeyAndEqualBytes(3);
    }

    @Test
    void conflictWithoutRetryAfter_isTheAnswer() throws Exception {
        provider.then(Provider.status(409));
        assertAnswered(post(), 409, 1);
    }

    @Test
    void conflict_providerThatMeansInProgress_isRepeated() throws Exception {
        use(quick(FORMAT.withConflict(ConflictMeaning.IN_PROGRESS)));
        provider.then(Provider.status(409));
        assertAnswered(post(), 201, 2);
    }

    @ParameterizedTest
    @ValueSource(ints = {408, 425, 429, 500, 502, 503, 504})
    void statusInDoubt_isRepeated(int status) throws Exception {
        provider.then(Provider.status(status));
        assertAnswered(post(), 201, 2);
        assertOneKeyAndEqualBytes(2);
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 303, 400, 401, 403, 404, 410, 422})
    void definitiveStatus_isTheAnswer(int status) throws Exception {
        provider.then(Provider.status(status));
        assertAnswered(post(), status, 1);
        assertThat(provider.received).hasSize(1);
    }

    @Test
    void retryAfterSeconds_isKept() throws Exception {
        provider.then(Provider.status(503, "Retry-After", "1"));
        long start = System.nanoTime();
        assertAnswered(post(), 201, 2);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void retryAfterDate_isKept_byTheProvidersClock() throws Exception {
        DateTimeFormatter httpDate = DateTimeFormatter.RFC_1123_DATE_TIME.withZone(ZoneOffset.UTC);
        Instant wrong = Instant.parse("2001-01-01T00:00:10Z");
        provider.then((p, exchange, request) -> {
            exchange.getResponseHeaders().set("Retry-After", httpDate.format(wrong.plusSeconds(3000)));
            exchange.sendResponseHeaders(503, -1);
            exchange.close();
        });
        use(quick().longestRetryAfter(Duration.ofSeconds(5)));
        // The server's Date is today, so a date of 2001 is past: the call goes on at once.
        assertAnswered(post(), 201, 2);
    }

    @Test
    void retryAfterTooLong_givesUpAtOnceAndSaysHowLong() throws Exception {
        provider.then(Provider.status(503, "Retry-After", "3600"));
        CallOutcome.Unknown<String> unknown = assertUnknown(post(), GiveUp.RETRY_AFTER, 1);
        assertThat(unknown.retryAfter()).isEqualTo(Duration.ofHours(1));
        assertThat(provider.received).hasSize(1);
    }

    @Test
    void attemptsUsedUp_isUnknown_withTheLastAnswer() throws Exception {
        use(quick().maxAttempts(3));
        IntStream.range(0, 3).forEach(i -> provider.then(Provider.status(500 + i)));
        CallOutcome.Unknown<String> unknown = assertUnknown(post(), GiveUp.ATTEMPTS, 3);
        assertThat(unknown.failure()).isInstanceOfSatisfying(CallFailure.Refused.class, refused -> {
            assertThat(refused.status()).isEqualTo(502);
            assertThat(new String(refused.body(), StandardCharsets.UTF_8)).isEqualTo("status 502");
            assertThat(refused.toString()).doesNotContain("status 502");
        });
        assertOneKeyAndEqualBytes(3);
    }

    @Test
    void totalTimeUsedUp_isUnknown() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        use(quick().totalTime(Duration.ofMinutes(1))
                .nanoTime(() -> TimeUnit.SECONDS.toNanos(40L * calls.getAndIncrement())));
        IntStream.range(0, 5).forEach(i -> provider.then(Provider.status(500)));
        CallOutcome<String> outcome = post();
        assertThat(outcome).isInstanceOf(CallOutcome.Unknown.class);
        assertThat(((CallOutcome.Unknown<String>) outcome).reason()).isEqualTo(GiveUp.TIME);
    }

    @Test
    void providerForbidsRetry_isUnknownAtOnce() throws Exception {
        use(quick(ProviderFormats.stripe()));
        provider.then(Provider.status(500, "Stripe-Should-Retry", "false"));
        assertUnknown(post(), GiveUp.PROVIDER, 1);
    }

    @Test
    void providerAsksForRetry_isRepeated_butNeverA400() throws Exception {
        use(quick(ProviderFormats.stripe()));
        provider.then(Provider.status(404, "Stripe-Should-Retry", "true"))
                .then(Provider.status(400, "Stripe-Should-Retry", "true"));
        assertAnswered(post(), 400, 2);
    }
}
