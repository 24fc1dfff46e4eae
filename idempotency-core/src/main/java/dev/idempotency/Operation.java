package dev.idempotency;

import dev.idempotency.spi.AbandonedPolicy;
import java.time.Duration;
import java.util.Objects;

/**
 * One call to be run once per key; adapters and users of {@link Idempotency} make it.
 *
 * @param id scope and key
 * @param fingerprint what the call asks for
 * @param protection how the key protects the work
 * @param retention how long the answer is kept, counted from the claim; 1 s to 3,660 days, 24 h by default
 * @param abandoned what to do about a leased claim whose owner is gone; {@link AbandonedPolicy#REPORT_UNKNOWN} by
 *     default
 * @param maxWait how long a duplicate waits for the running attempt before it is told {@link
 *     OperationOutcome.InProgress}; zero (the default) to tell it at once, at most 10 minutes
 * @param repeatable whether the work may be run again after its transaction lost against a concurrent one; false by
 *     default, because a servlet chain cannot run twice
 */
public record Operation(
        RecordId id,
        Fingerprint fingerprint,
        Protection protection,
        Duration retention,
        AbandonedPolicy abandoned,
        Duration maxWait,
        boolean repeatable) {
    /**
     * Checks the parts.
     *
     * @throws IllegalArgumentException if the wait is negative or longer than 10 minutes
     */
    public Operation {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(fingerprint, "fingerprint");
        Objects.requireNonNull(protection, "protection");
        Objects.requireNonNull(retention, "retention");
        Objects.requireNonNull(abandoned, "abandoned");
        if (maxWait.isNegative() || maxWait.compareTo(Duration.ofMinutes(10)) > 0) {
            throw new IllegalArgumentException("maxWait must be between 0 and 10 minutes, but is " + maxWait);
        }
    }

    /**
     * Returns the operation with all defaults.
     *
     * @param id scope and key
     * @param fingerprint what the call asks for
     * @param protection how the key protects the work
     * @return the operation
     */
    public static Operation of(RecordId id, Fingerprint fingerprint, Protection protection) {
        return new Operation(
                id,
                fingerprint,
                protection,
                Duration.ofHours(24),
                AbandonedPolicy.REPORT_UNKNOWN,
                Duration.ZERO,
                false);
    }

    /**
     * Returns this operation with another retention.
     *
     * @param duration how long the answer is kept
     * @return the operation
     */
    public Operation withRetention(Duration duration) {
        return new Operation(id, fingerprint, protection, duration, abandoned, maxWait, repeatable);
    }

    /**
     * Returns this operation with another policy for abandoned claims.
     *
     * @param policy what to do
     * @return the operation
     */
    public Operation withAbandoned(AbandonedPolicy policy) {
        return new Operation(id, fingerprint, protection, retention, policy, maxWait, repeatable);
    }

    /**
     * Returns this operation with another wait.
     *
     * @param duration how long a duplicate waits
     * @return the operation
     */
    public Operation withMaxWait(Duration duration) {
        return new Operation(id, fingerprint, protection, retention, abandoned, duration, repeatable);
    }

    /**
     * Returns this operation as one whose work may run again after a lost race.
     *
     * @return the operation
     */
    public Operation asRepeatable() {
        return new Operation(id, fingerprint, protection, retention, abandoned, maxWait, true);
    }
}
