package dev.idempotency.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpHeaders;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RetryAfterTest {
    /** The example of RFC 9110, section 5.6.7, less 37 s. */
    private static final Instant NOW = Instant.parse("1994-11-06T08:49:00Z");

    @Test
    void seconds() {
        assertThat(of("120")).contains(Duration.ofMinutes(2));
        assertThat(of(" 0 ")).contains(Duration.ZERO);
        assertThat(of("000000000000007")).contains(Duration.ofSeconds(7));
    }

    @ParameterizedTest
    @ValueSource(strings = {"Sun, 06 Nov 1994 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"})
    void dates(String text) {
        assertThat(of(text)).contains(Duration.ofSeconds(37));
    }

    @Test
    void dateOfRfc850_isInThisCentury() {
        assertThat(RetryAfter.of(headers("Wednesday, 06-Nov-30 08:49:37 GMT"), Instant.parse("2030-11-06T08:49:00Z")))
                .contains(Duration.ofSeconds(37));
    }

    @Test
    void date_isComparedWithTheProvidersClock() {
        HttpHeaders headers = HttpHeaders.of(
                Map.of(
                        "Retry-After", List.of("Sun, 06 Nov 1994 08:49:37 GMT"),
                        "Date", List.of("Sun, 06 Nov 1994 08:49:30 GMT")),
                (name, value) -> true);
        assertThat(RetryAfter.of(headers, Instant.parse("2030-01-01T00:00:00Z")))
                .contains(Duration.ofSeconds(7));
    }

    @Test
    void extremes_areBounded() {
        assertThat(of("9".repeat(400))).contains(Duration.ofDays(366));
        assertThat(of("Sun, 06 Nov 2094 08:49:37 GMT")).isEmpty();
        assertThat(of("Sat, 06 Nov 2094 08:49:37 GMT")).contains(Duration.ofDays(366));
        assertThat(of("Sat, 06 Nov 1993 08:49:37 GMT")).contains(Duration.ZERO);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-1", "1.5", "soon", "\u0661", "Sun, 06 Nov 1994", "1 2"})
    void nonsense_isIgnored(String text) {
        assertThat(of(text)).isEmpty();
    }

    private static Optional<Duration> of(String value) {
        return RetryAfter.of(headers(value), NOW);
    }

    private static HttpHeaders headers(String value) {
        return HttpHeaders.of(Map.of("Retry-After", List.of(value)), (name, text) -> true);
    }
}
