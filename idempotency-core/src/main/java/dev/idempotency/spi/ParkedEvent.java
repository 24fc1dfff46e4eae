package dev.idempotency.spi;

import dev.idempotency.EventId;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An event that could not be handled and was set aside whole, so that it can be handled later.
 *
 * @param id the event's id; one that is derived from the position where the event had none
 * @param partition where the event stood
 * @param offset where the event stood in it, 0 or more
 * @param key the key's bytes, or null
 * @param value the value's bytes, or null
 * @param headers the headers in their order
 * @param timestamp the time the event carries
 * @param attempts how often it was tried, 0 or more
 * @param reason why it was parked, for people: the failure's class and text; at most 2,000 characters are kept
 */
@SuppressWarnings("ArrayRecordComponent")
public record ParkedEvent(
        EventId id,
        EventPartition partition,
        long offset,
        byte @Nullable [] key,
        byte @Nullable [] value,
        List<EventHeader> headers,
        Instant timestamp,
        int attempts,
        String reason) {
    /** The most characters of a reason that are kept. */
    public static final int MAX_REASON = 2000;

    /**
     * Copies what can change and shortens the reason.
     *
     * @throws IllegalArgumentException if the offset or the number of attempts is negative
     */
    public ParkedEvent {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(partition, "partition");
        Objects.requireNonNull(timestamp, "timestamp");
        if (offset < 0 || attempts < 0) {
            throw new IllegalArgumentException(
                    "Neither offset (" + offset + ") nor attempts (" + attempts + ") may be negative");
        }
        key = key == null ? null : key.clone();
        value = value == null ? null : value.clone();
        headers = List.copyOf(headers);
        reason = reason.length() > MAX_REASON ? reason.substring(0, MAX_REASON) : reason;
    }

    /** {@return a copy of the key, or null for a record without one} */
    @Override
    public byte @Nullable [] key() {
        return key == null ? null : key.clone();
    }

    /** {@return a copy of the value, or null for a record without one} */
    @Override
    public byte @Nullable [] value() {
        return value == null ? null : value.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ParkedEvent that
                && id.equals(that.id)
                && partition.equals(that.partition)
                && offset == that.offset
                && Arrays.equals(key, that.key)
                && Arrays.equals(value, that.value)
                && headers.equals(that.headers)
                && timestamp.equals(that.timestamp)
                && attempts == that.attempts
                && reason.equals(that.reason);
    }

    @Override
    public int hashCode() {
        return Objects.hash(id, partition, offset);
    }

    /** Returns where the event stands and its id, no key, value or header. */
    @Override
    public String toString() {
        return "ParkedEvent[" + partition + "@" + offset + ", id=" + id.value() + ", attempts=" + attempts + "]";
    }
}
