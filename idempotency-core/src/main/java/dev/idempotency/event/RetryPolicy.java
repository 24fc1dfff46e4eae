package dev.idempotency.event;

import java.time.Duration;

/**
 * How often and when an event whose handler failed is tried again; failures of the infrastructure do not count.
 *
 * @param maxAttempts how often an event is tried before it is given up, 1 to 1,000,000; 5 by default
 * @param firstDelay the wait after the first failure, doubled after each further one; 1 ms to 24 h, 1 s by default
 * @param maxDelay the longest wait; not shorter than the first, at most 24 h, 30 s by default
 */
public record RetryPolicy(int maxAttempts, Duration firstDelay, Duration maxDelay) {
    private static final Duration LONGEST = Duration.ofHours(24);

    /** So often somebody else may end an event's session: an operator, a fail-over, a proxy. */
    private static final int FORGIVEN_LOSSES = 5;

    /**
     * Checks the parts.
     *
     * @throws IllegalArgumentException if one is out of range; the message names it
     */
    public RetryPolicy {
        if (maxAttempts < 1 || maxAttempts > 1_000_000) {
            throw new IllegalArgumentException("maxAttempts must be 1 to 1000000, but is " + maxAttempts);
        }
        if (firstDelay.toMillis() < 1 || firstDelay.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("firstDelay must be between 1 ms and 24 h, but is " + firstDelay);
        }
        if (maxDelay.compareTo(firstDelay) < 0 || maxDelay.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "maxDelay must be between firstDelay (" + firstDelay + ") and 24 h, but is " + maxDelay);
        }
    }

    /**
     * Returns the defaults: 5 attempts, waits of 1, 2, 4 and 8 s.
     *
     * @return the policy
     */
    public static RetryPolicy ofDefaults() {
        return new RetryPolicy(5, Duration.ofSeconds(1), Duration.ofSeconds(30));
    }

    /**
     * Tells whether an event has been tried as often as it may.
     *
     * <p>An event whose connection is lost each time it is handled, while the database answers, is to blame in the end; but
     * others end sessions too, so the first five losses in a row are forgiven and only further ones count as failures.
     *
     * @param failures how often its handler has failed
     * @param losses how often in a row its connection was lost, {@link ProcessingFailure.ConnectionLost}
     * @return true if it is to be given up
     */
    public boolean isExhausted(int failures, int losses) {
        return failures + Math.max(0, losses - FORGIVEN_LOSSES) >= maxAttempts;
    }

    /**
     * Returns how long to wait after this many failures.
     *
     * @param failures how often the event has failed, 1 or more
     * @return the wait
     */
    public Duration delayAfter(int failures) {
        // 24 h are less than 2^27 ms, so nothing overflows.
        long delay = firstDelay.toMillis() << Math.min(Math.max(failures - 1, 0), 30);
        return Duration.ofMillis(Math.min(delay, maxDelay.toMillis()));
    }
}
