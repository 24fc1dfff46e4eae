package dev.idempotency.client;

import java.net.http.HttpHeaders;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoField;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Reads {@code Retry-After} (RFC 9110, section 10.2.3): seconds, or a date in any of the three forms of HTTP. */
final class RetryAfter {
    private static final Duration LONGEST = Duration.ofDays(366);

    private static final List<DateTimeFormatter> DATES = List.of(
            DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US)
                    .withZone(ZoneOffset.UTC),
            // RFC 850: a year of two digits; the ones to come are more likely than those long past.
            new DateTimeFormatterBuilder()
                    .appendPattern("EEEE, dd-MMM-")
                    .appendValueReduced(ChronoField.YEAR, 2, 2, 2000)
                    .appendPattern(" HH:mm:ss 'GMT'")
                    .toFormatter(Locale.US)
                    .withZone(ZoneOffset.UTC),
            DateTimeFormatter.ofPattern("EEE MMM ppd HH:mm:ss yyyy", Locale.US).withZone(ZoneOffset.UTC));

    private RetryAfter() {}

    /**
     * Returns how long the provider asks to wait.
     *
     * <p>A date is compared with the provider's own {@code Date} header where there is one, because the two clocks may
     * be minutes apart.
     *
     * @return never negative, at most 366 days; empty if the header is missing or cannot be read
     */
    static Optional<Duration> of(HttpHeaders headers, Instant now) {
        return headers.firstValue("Retry-After").map(String::strip).flatMap(text -> {
            if (!text.isEmpty() && text.chars().allMatch(character -> character >= '0' && character <= '9')) {
                return Optional.of(ofSeconds(text));
            }
            Instant here = headers.firstValue("Date")
                    .flatMap(date -> parse(date.strip()))
                    .orElse(now);
            return parse(text).map(date -> bounded(Duration.between(here, date)));
        });
    }

    private static Duration ofSeconds(String digits) {
        String significant = digits.replaceFirst("^0+(?=.)", "");
        return significant.length() > 9 ? LONGEST : bounded(Duration.ofSeconds(Long.parseLong(significant)));
    }

    private static Duration bounded(Duration duration) {
        if (duration.isNegative()) {
            return Duration.ZERO;
        }
        return duration.compareTo(LONGEST) > 0 ? LONGEST : duration;
    }

    private static Optional<Instant> parse(String text) {
        for (DateTimeFormatter format : DATES) {
            try {
                return Optional.of(ZonedDateTime.parse(text, format).toInstant());
            } catch (DateTimeParseException otherForm) {
                // Then it is one of the other forms, or none.
            }
        }
        return Optional.empty();
    }
}
