package dev.idempotency.spi;

import dev.idempotency.Fingerprint;
import dev.idempotency.RecordId;
import java.time.Duration;
import java.util.Objects;

/**
 * What a store is asked to claim; engines make it, stores read it.
 *
 * @param id scope and key of the operation
 * @param fingerprint what the request asks for; a record with one that does not match is a mismatch
 * @param retention how long the record is kept, counted from the claim by the store's clock; 1 s to 10 years
 * @param abandoned what to do about a leased record whose lease has ended
 */
public record ClaimRequest(RecordId id, Fingerprint fingerprint, Duration retention, AbandonedPolicy abandoned) {
    private static final Duration LONGEST = Duration.ofDays(3660);

    /**
     * Checks the retention.
     *
     * @throws IllegalArgumentException if it is shorter than 1 s or longer than ten years
     */
    public ClaimRequest {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(fingerprint, "fingerprint");
        Objects.requireNonNull(abandoned, "abandoned");
        if (retention.toMillis() < 1000 || retention.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("The retention must be between 1 s and 3660 days, but is " + retention);
        }
    }
}
