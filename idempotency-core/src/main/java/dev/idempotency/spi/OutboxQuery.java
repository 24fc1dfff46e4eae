package dev.idempotency.spi;

import java.util.Set;

/**
 * Which rows a relay asks for; relays make it, stores read it.
 *
 * @param fromSequence the first sequence number to look at; rows below are known to be finished, or come later
 * @param limit the most rows to return, 1 to 10,000
 * @param withoutTopics topics to leave out because they are paused or refuse everything; usually empty
 */
public record OutboxQuery(long fromSequence, int limit, Set<String> withoutTopics) {
    /**
     * Checks the limit and copies the topics.
     *
     * @throws IllegalArgumentException if the limit is out of range
     */
    public OutboxQuery {
        if (limit < 1 || limit > 10_000) {
            throw new IllegalArgumentException("The limit must be between 1 and 10,000, but is " + limit);
        }
        withoutTopics = Set.copyOf(withoutTopics);
    }
}
