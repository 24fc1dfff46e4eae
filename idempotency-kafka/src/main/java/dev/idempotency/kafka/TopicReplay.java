package dev.idempotency.kafka;

import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/**
 * What a replay of a {@link TopicRange} came to; all of it is committed.
 *
 * @param handled how many records the handler has got
 * @param duplicates how many were passed over, because they are marked as processed
 * @param stopped why the replay of a partition ended before its range did; empty if all of it was read
 */
public record TopicReplay(long handled, long duplicates, Map<TopicPartition, Stop> stopped) {
    /** Copies the map. */
    public TopicReplay {
        stopped = Map.copyOf(stopped);
    }

    /**
     * Where and why the replay of a partition ended early.
     *
     * @param offset the first record that was not processed
     * @param cause what the handler threw, or why the database could not be used
     */
    public record Stop(long offset, Exception cause) {}
}
