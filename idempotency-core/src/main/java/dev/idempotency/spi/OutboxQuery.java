package dev.idempotency.spi;

import java.util.Objects;
import java.util.Set;

/**
 * Which rows a relay asks for; relays make it, stores read it.
 *
 * @param fromSequence the first sequence number to look at; rows below are known to be finished, or come later
 * @param limit the most rows to return, 1 to 10,000
 * @param mostBytes the page ends with the row whose payload brings the sum of the payloads' bytes to this, so that one row is
 *     always returned if there is one; at least 1
 * @param withoutTopics topics to leave out because they are paused or refuse everything; usually empty
 * @param heldKeys keys to leave out, of no meaning but for {@link LeasedOutboxStore#read}; usually none
 */
public record OutboxQuery(long fromSequence, int limit, long mostBytes, Set<String> withoutTopics, HeldKeys heldKeys) {
    /**
     * Checks the limits and copies the topics.
     *
     * @throws IllegalArgumentException if a limit is out of range
     */
    public OutboxQuery {
        if (limit < 1 || limit > 10_000) {
            throw new IllegalArgumentException("The limit must be between 1 and 10,000, but is " + limit);
        }
        if (mostBytes < 1) {
            throw new IllegalArgumentException("The limit of bytes must be at least 1, but is " + mostBytes);
        }
        withoutTopics = Set.copyOf(withoutTopics);
        Objects.requireNonNull(heldKeys, "heldKeys");
    }

    /**
     * Asks for all keys.
     *
     * @param fromSequence as in the record
     * @param limit as in the record
     * @param mostBytes as in the record
     * @param withoutTopics as in the record
     * @throws IllegalArgumentException if a limit is out of range
     */
    public OutboxQuery(long fromSequence, int limit, long mostBytes, Set<String> withoutTopics) {
        this(fromSequence, limit, mostBytes, withoutTopics, HeldKeys.none());
    }

    /**
     * Asks without a limit of bytes.
     *
     * @param fromSequence as in the record
     * @param limit as in the record
     * @param withoutTopics as in the record
     * @throws IllegalArgumentException if the limit is out of range
     */
    public OutboxQuery(long fromSequence, int limit, Set<String> withoutTopics) {
        this(fromSequence, limit, Long.MAX_VALUE, withoutTopics);
    }
}
