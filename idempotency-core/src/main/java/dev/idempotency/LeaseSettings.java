package dev.idempotency;

import java.time.Duration;

/**
 * How long a claim under {@link Protection#LEASED} lasts.
 *
 * @param leaseDuration how long a claim lasts without a heartbeat, and so how long a crash keeps the key busy; 1 s to
 *     24 h, 30 s by default; the heartbeat extends it every third of that time
 * @param maxLifetime how long the heartbeat goes on at most, so that work that hangs frees its key in the end; at least
 *     the lease, 1 h by default
 */
public record LeaseSettings(Duration leaseDuration, Duration maxLifetime) {
    /**
     * Checks the durations.
     *
     * @throws IllegalArgumentException if one is out of its range; the message names it
     */
    public LeaseSettings {
        if (leaseDuration.toMillis() < 1000 || leaseDuration.compareTo(Duration.ofHours(24)) > 0) {
            throw new IllegalArgumentException("leaseDuration must be between 1 s and 24 h, but is " + leaseDuration);
        }
        if (maxLifetime.compareTo(leaseDuration) < 0) {
            throw new IllegalArgumentException(
                    "maxLifetime must be at least the leaseDuration of " + leaseDuration + ", but is " + maxLifetime);
        }
    }

    /**
     * Returns the defaults: a lease of 30 s, kept for 1 h at most.
     *
     * @return the settings
     */
    public static LeaseSettings ofDefaults() {
        return new LeaseSettings(Duration.ofSeconds(30), Duration.ofHours(1));
    }
}
