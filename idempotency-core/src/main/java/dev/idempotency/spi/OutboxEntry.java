package dev.idempotency.spi;

import java.time.Instant;
import java.util.Objects;
import java.util.UUID;

/**
 * One row of an outbox as an operator sees it, without the event's content; a store makes it.
 *
 * @param eventId the event's id
 * @param sequence the row's number
 * @param topic where the event goes
 * @param status its state
 * @param attempts how often publishing it has failed for reasons of its own
 * @param crashes how often a relay that had claimed it was gone
 * @param owner the relay that has claimed it; empty if none has
 * @param lastError what its last failure was; empty if there was none
 * @param createdAt when it was appended, by the database's clock
 */
public record OutboxEntry(
        UUID eventId,
        long sequence,
        String topic,
        Status status,
        int attempts,
        int crashes,
        String owner,
        String lastError,
        Instant createdAt) {
    /** What becomes of an event, in its order. */
    public enum Status {
        /** It waits for a relay, or for another attempt. */
        PENDING,
        /** A relay that claims has it. */
        PUBLISHING,
        /** The broker has acknowledged it. */
        PUBLISHED,
        /** It was given up, and stays until somebody requeues or discards it. */
        DEAD
    }

    /** Checks that the parts are present. */
    public OutboxEntry {
        Objects.requireNonNull(eventId, "eventId");
        Objects.requireNonNull(topic, "topic");
        Objects.requireNonNull(status, "status");
        Objects.requireNonNull(owner, "owner");
        Objects.requireNonNull(lastError, "lastError");
        Objects.requireNonNull(createdAt, "createdAt");
    }
}
