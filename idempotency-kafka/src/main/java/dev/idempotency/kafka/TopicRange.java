package dev.idempotency.kafka;

import java.time.Instant;
import java.util.Objects;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Which records of a topic are to be read again; applications make one for {@link IdempotentConsumer#replay(TopicRange)}. It
 * ends where the topic ends when the replay begins.
 */
public final class TopicRange {
    private final String topic;
    private final @Nullable Integer partition;
    private final @Nullable Instant fromTime;
    private final @Nullable Instant toTime;
    private final long fromOffset;
    private final long toOffset;

    private TopicRange(
            String topic,
            @Nullable Integer partition,
            @Nullable Instant fromTime,
            @Nullable Instant toTime,
            long fromOffset,
            long toOffset) {
        this.topic = Objects.requireNonNull(topic, "topic");
        this.partition = partition;
        this.fromTime = fromTime;
        this.toTime = toTime;
        this.fromOffset = fromOffset;
        this.toOffset = toOffset;
    }

    /**
     * Returns all records that the topic has.
     *
     * @param topic the topic's name
     * @return the range
     */
    public static TopicRange all(String topic) {
        return new TopicRange(topic, null, null, null, 0, Long.MAX_VALUE);
    }

    /**
     * Returns the records from the first one with this time or a later one to before the first one with that.
     *
     * @param topic the topic's name
     * @param from the time of the first record
     * @param to the time behind the last record
     * @return the range
     * @throws IllegalArgumentException if the end is not after the beginning
     */
    public static TopicRange between(String topic, Instant from, Instant to) {
        if (!from.isBefore(to)) {
            throw new IllegalArgumentException(
                    "The range must end after it begins, but goes from " + from + " to " + to);
        }
        return new TopicRange(topic, null, from, to, 0, Long.MAX_VALUE);
    }

    /**
     * Returns records of one partition.
     *
     * @param topic the topic's name
     * @param partition the partition's number, 0 or more
     * @param from the offset of the first record, 0 or more
     * @param to the offset behind the last record
     * @return the range
     * @throws IllegalArgumentException if a number is negative or the end is not after the beginning
     */
    public static TopicRange offsets(String topic, int partition, long from, long to) {
        if (partition < 0 || from < 0 || to <= from) {
            throw new IllegalArgumentException(
                    "The range must have a partition and offsets of 0 or more and end after it"
                            + " begins, but is partition " + partition + " from " + from + " to " + to);
        }
        return new TopicRange(topic, partition, null, null, from, to);
    }

    String topic() {
        return topic;
    }

    boolean includes(TopicPartition candidate) {
        return candidate.topic().equals(topic) && (partition == null || partition == candidate.partition());
    }

    @Nullable
    Instant fromTime() {
        return fromTime;
    }

    @Nullable
    Instant toTime() {
        return toTime;
    }

    long fromOffset() {
        return fromOffset;
    }

    long toOffset() {
        return toOffset;
    }

    @Override
    public String toString() {
        return topic
                + (partition == null ? "" : "-" + partition)
                + (fromTime == null ? "" : " from " + fromTime + " to " + toTime)
                + (toOffset == Long.MAX_VALUE ? "" : " from " + fromOffset + " to " + toOffset);
    }
}
