package dev.idempotency.spi;

import dev.idempotency.RecordedResult;
import java.time.Duration;
import java.util.Objects;

/** What one atomic claim found; a store answers with it, and it never leaves a doubt who may run the work. */
public sealed interface ClaimOutcome {
    /**
     * The caller owns the operation and is the only one.
     *
     * @param claim to be given back on completion
     */
    record Acquired(Claim claim) implements ClaimOutcome {
        /** Checks that the claim is present. */
        public Acquired {
            Objects.requireNonNull(claim, "claim");
        }
    }

    /**
     * The operation is over; its recorded result is the answer.
     *
     * @param result what was recorded
     */
    record Completed(RecordedResult result) implements ClaimOutcome {
        /** Checks that the result is present. */
        public Completed {
            Objects.requireNonNull(result, "result");
        }
    }

    /**
     * Somebody else owns the operation now.
     *
     * @param retryAfter when asking again makes sense; more than zero
     */
    record InProgress(Duration retryAfter) implements ClaimOutcome {
        /** Checks that the duration is present. */
        public InProgress {
            Objects.requireNonNull(retryAfter, "retryAfter");
        }
    }

    /** The key was used for another request: the fingerprints do not match. */
    record Mismatch() implements ClaimOutcome {}

    /** The record has expired and only its tombstone is left: whether this is a late repeat can no longer be told. */
    record Expired() implements ClaimOutcome {}

    /**
     * The owner of a leased record let its lease end without completing; whether the effect happened is unknown.
     *
     * <p>Answered only under {@link AbandonedPolicy#REPORT_UNKNOWN}.
     */
    record Abandoned() implements ClaimOutcome {}
}
