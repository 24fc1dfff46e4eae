package dev.idempotency.client;

import java.time.Duration;
import java.util.Objects;

/**
 * What became of one call, for a {@link CallListener}. It has neither key nor address, so that none of them can become the tag
 * of a metric.
 *
 * @param method the request's method
 * @param ending how the call ended
 * @param status the status of the answer, or of the last refusal; 0 if there was none
 * @param attempts how many attempts it began; with {@link Ending#CANCELLED} each of them may have reached the provider
 * @param elapsed from the call to its end, waits included
 */
public record CallReport(String method, Ending ending, int status, int attempts, Duration elapsed) {
    /** How a call ended; the name in lower case is a good tag for a metric. */
    public enum Ending {
        /** As {@link CallOutcome.Answered}. */
        ANSWERED,
        /** As {@link CallOutcome.NotSent}. */
        NOT_SENT,
        /** As {@link CallOutcome.Unknown}. */
        UNKNOWN,
        /** As {@link CallOutcome.KeyExpired}. */
        KEY_EXPIRED,
        /** The caller does not wait any more; if there were attempts, nobody knows whether the provider acted. */
        CANCELLED,
        /** The request could not be sent as it is: its body is too large, or the {@code HttpClient} refuses it. */
        REFUSED
    }

    /** Checks that all parts are present. */
    public CallReport {
        Objects.requireNonNull(method, "method");
        Objects.requireNonNull(ending, "ending");
        Objects.requireNonNull(elapsed, "elapsed");
    }
}
