package dev.idempotency.event;

import java.time.Duration;
import java.util.Optional;

/**
 * Tells for how long a broker may deliver an event again; adapters implement it, and {@link MarkCleanUp} asks it before it
 * deletes.
 */
@FunctionalInterface
public interface RedeliveryHorizon {
    /**
     * Tells how long after it was sent an event can still be delivered.
     *
     * @return the longest time; empty if some are kept for ever
     * @throws RuntimeException if it cannot be told now
     */
    Optional<Duration> longest();
}
