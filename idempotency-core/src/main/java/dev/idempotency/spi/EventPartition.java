package dev.idempotency.spi;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.UUID;

/**
 * One ordered sequence of events with offsets: a partition of a topic; adapters make it.
 *
 * <p>It is ordered by topic id and number, so that every transaction locks in the same order (DESIGN rule T12).
 *
 * @param topic the topic's name, 1 to 255 bytes of UTF-8; for people
 * @param topicId the topic's identity, another one when a topic of the same name is created again, because its offsets
 *     begin anew
 * @param number the partition's number, 0 or more
 */
public record EventPartition(String topic, UUID topicId, int number) implements Comparable<EventPartition> {
    /**
     * Checks the parts.
     *
     * @throws IllegalArgumentException if the topic is empty or too long, or the number negative
     */
    public EventPartition {
        Objects.requireNonNull(topicId, "topicId");
        int length = topic.getBytes(StandardCharsets.UTF_8).length;
        if (length < 1 || length > 255) {
            throw new IllegalArgumentException(
                    "A topic's name has 1 to 255 bytes of UTF-8, but this one has " + length);
        }
        if (number < 0) {
            throw new IllegalArgumentException("A partition's number must not be negative, but is " + number);
        }
    }

    /** Orders as databases order the bytes of a UUID, not as {@link UUID#compareTo} does. */
    @Override
    public int compareTo(EventPartition other) {
        int order = Long.compareUnsigned(topicId.getMostSignificantBits(), other.topicId.getMostSignificantBits());
        if (order == 0) {
            order = Long.compareUnsigned(topicId.getLeastSignificantBits(), other.topicId.getLeastSignificantBits());
        }
        return order == 0 ? Integer.compare(number, other.number) : order;
    }

    /** Two partitions are the same if topic id and number are; a topic's name does not tell. */
    @Override
    public boolean equals(Object other) {
        return other instanceof EventPartition that && topicId.equals(that.topicId) && number == that.number;
    }

    @Override
    public int hashCode() {
        return 31 * topicId.hashCode() + number;
    }

    @Override
    public String toString() {
        return topic + "-" + number;
    }
}
