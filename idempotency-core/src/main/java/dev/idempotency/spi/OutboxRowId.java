package dev.idempotency.spi;

import java.util.Objects;
import java.util.UUID;

/**
 * Which row a relay has in hand; a relay takes it from the row, and a store compares both parts.
 *
 * <p>The number finds the row, and the event's id proves that it still is that row. A number alone does not: after a
 * fail-over to a replica that lacked the last rows, a sequence that was set back, or a truncation, the database gives it to
 * another event, and a late mark of the earlier one would finish what was never sent.
 *
 * @param sequence the row's number
 * @param eventId the event's id
 */
public record OutboxRowId(long sequence, UUID eventId) {
    /** Checks that the id is present. */
    public OutboxRowId {
        Objects.requireNonNull(eventId, "eventId");
    }
}
