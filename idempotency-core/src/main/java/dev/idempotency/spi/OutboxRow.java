package dev.idempotency.spi;

import dev.idempotency.OutboxEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;

/**
 * One event as a store hands it to a relay.
 *
 * @param sequence the row's number, drawn by the database at the append and so before its commit: a later number may
 *     become visible earlier
 * @param event what to publish; it has an id
 * @param bucket the bucket written with the row, 0 to 255
 * @param attempts how often publishing this very event has failed for reasons of its own; outages do not count
 * @param dueIn how long the row still has to wait by the database's clock; zero if it may be published now
 * @param createdAt when it was appended, by the database's clock
 * @param damage why the row cannot be read as the event that was appended, so that {@code event} holds only what can be
 *     read of it; empty for nearly every row. Such a row is never published: the relay gives it up
 */
public record OutboxRow(
        long sequence,
        OutboxEvent event,
        int bucket,
        int attempts,
        Duration dueIn,
        Instant createdAt,
        Optional<String> damage) {
    /** The topic of a damaged row whose own is none that a broker takes. */
    public static final String UNREADABLE_TOPIC = "unreadable";

    /** Checks that the parts are present. */
    public OutboxRow {
        Objects.requireNonNull(event, "event");
        Objects.requireNonNull(dueIn, "dueIn");
        Objects.requireNonNull(createdAt, "createdAt");
        Objects.requireNonNull(damage, "damage");
        if (event.eventId().isEmpty()) {
            throw new IllegalArgumentException("A row's event must have an id");
        }
    }

    /**
     * Makes a row that is sound.
     *
     * @param sequence as in the record
     * @param event as in the record
     * @param bucket as in the record
     * @param attempts as in the record
     * @param dueIn as in the record
     * @param createdAt as in the record
     */
    public OutboxRow(long sequence, OutboxEvent event, int bucket, int attempts, Duration dueIn, Instant createdAt) {
        this(sequence, event, bucket, attempts, dueIn, createdAt, Optional.empty());
    }

    /**
     * Returns the event's identity.
     *
     * @return the id that every delivery carries
     */
    public UUID eventId() {
        return event.eventId().orElseThrow();
    }

    /**
     * Returns what names this row in a mark.
     *
     * @return its number and its event's id
     */
    public OutboxRowId id() {
        return new OutboxRowId(sequence, eventId());
    }
}
