package dev.idempotency.servlet;

import dev.idempotency.Idempotent;
import dev.idempotency.Protection;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import org.jspecify.annotations.Nullable;

/**
 * How one servlet's requests are treated: by the filter's own options, or by the {@link Idempotent} annotation in their
 * place.
 *
 * @param operation the stable name, or null for method and path
 */
record RequestPlan(@Nullable String operation, Protection protection, boolean keyRequired, Duration retention) {
    /**
     * Reads the annotation.
     *
     * @throws IllegalArgumentException if its retention is no duration; the message names the place
     */
    static RequestPlan of(Idempotent annotation, String place, Duration otherwise) {
        return new RequestPlan(
                annotation.operation().isEmpty() ? null : annotation.operation(),
                annotation.protection(),
                annotation.keyRequired(),
                annotation.retention().isEmpty() ? otherwise : retention(annotation.retention(), place));
    }

    /**
     * Checks a retention at the start, where it would otherwise fail every request.
     *
     * @throws IllegalArgumentException if it is out of its range
     */
    static Duration requireRetention(String name, Duration duration) {
        if (duration.compareTo(Duration.ofSeconds(1)) < 0 || duration.compareTo(Duration.ofDays(3660)) > 0) {
            throw new IllegalArgumentException(
                    "The " + name + " must be between 1 s and 3660 days, but is " + duration);
        }
        return duration;
    }

    private static Duration retention(String text, String place) {
        try {
            return requireRetention("retention of @Idempotent on " + place, Duration.parse(text));
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException(
                    "The retention of @Idempotent on " + place
                            + " must be an ISO-8601 duration such as PT24H, but is \"" + text + "\"",
                    e);
        }
    }
}
