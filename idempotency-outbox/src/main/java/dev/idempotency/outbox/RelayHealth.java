package dev.idempotency.outbox;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * How a relay fares, for a health check.
 *
 * @param status the verdict
 * @param sinceLastPass how long ago the store answered last
 * @param failingTopics topics that refuse events and rest
 * @param lastError the last error seen, also if it has passed; no event's content
 */
public record RelayHealth(
        Status status, Duration sinceLastPass, Set<String> failingTopics, Optional<String> lastError) {
    /** Copies the topics. */
    public RelayHealth {
        failingTopics = Set.copyOf(failingTopics);
    }

    /** The verdict on a relay. */
    public enum Status {
        /** Not started yet. */
        NEW,
        /** Working. */
        UP,
        /** Working in part: the broker or a topic refuses events at the moment; they wait. */
        DEGRADED,
        /** The store has not answered for a while, or a thread of the relay has died: nothing is published. */
        DOWN,
        /** Draining or closed. */
        STOPPED
    }
}
