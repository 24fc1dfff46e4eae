package dev.idempotency.event;

import dev.idempotency.EventId;
import java.util.Objects;

/**
 * One event as it was delivered; adapters make it.
 *
 * @param <E> the type of event
 * @param id the event's identity
 * @param offset where it stands in its partition, 0 or more
 * @param attempt which attempt to handle it this is; 1 for the first
 * @param event the event
 */
public record Delivery<E>(EventId id, long offset, int attempt, E event) {
    /**
     * Checks the parts.
     *
     * @throws IllegalArgumentException if the offset is negative or the attempt not positive
     */
    public Delivery {
        Objects.requireNonNull(id, "id");
        if (offset < 0 || attempt < 1) {
            throw new IllegalArgumentException(
                    "The offset must be 0 or more and the attempt 1 or more, but are " + offset + " and " + attempt);
        }
    }
}
