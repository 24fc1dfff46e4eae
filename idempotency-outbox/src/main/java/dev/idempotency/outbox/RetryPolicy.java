package dev.idempotency.outbox;

import java.time.Duration;

/**
 * How often, and how far apart, a relay tries an event again that fails for reasons of its own.
 *
 * <p>Failures of a topic, of the broker or of the relay's client do not count: an outage never gives an event up.
 *
 * @param attempts how many attempts an event has before it is DEAD; 1 to 1,000, 20 by default
 * @param first the wait after the first failure, doubled after each further one; 1 ms to 24 h, 1 s by default
 * @param longest the longest wait; at least {@code first}, at most 7 days, 5 minutes by default
 */
public record RetryPolicy(int attempts, Duration first, Duration longest) {
    private static final Duration LONGEST_FIRST = Duration.ofHours(24);
    private static final Duration LONGEST = Duration.ofDays(7);

    /**
     * Checks the parts.
     *
     * @throws IllegalArgumentException if one is out of range; the message names it
     */
    public RetryPolicy {
        if (attempts < 1 || attempts > 1_000) {
            throw new IllegalArgumentException("attempts must be between 1 and 1,000, but is " + attempts);
        }
        if (first.toMillis() < 1 || first.compareTo(LONGEST_FIRST) > 0) {
            throw new IllegalArgumentException("The first wait must be between 1 ms and 24 h, but is " + first);
        }
        if (longest.compareTo(first) < 0 || longest.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "The longest wait must be between the first, " + first + ", and 7 days, but is " + longest);
        }
    }

    /**
     * Returns the defaults: 20 attempts, 1 s to 5 minutes apart.
     *
     * @return the policy
     */
    public static RetryPolicy ofDefaults() {
        return new RetryPolicy(20, Duration.ofSeconds(1), Duration.ofMinutes(5));
    }

    /** Returns the wait after this many failures, before jitter. */
    Duration waitAfter(int failures) {
        return exponential(first, longest, failures);
    }

    static Duration exponential(Duration first, Duration longest, int failures) {
        long nanos = first.toNanos();
        long most = longest.toNanos();
        for (int i = 1; i < failures && nanos < most; i++) {
            nanos *= 2;
        }
        return Duration.ofNanos(Math.min(nanos, most));
    }
}
