package dev.idempotency.kafka;

import java.util.Set;
import org.apache.kafka.common.TopicPartition;

/**
 * What stopping a consumer came to.
 *
 * @param drained true if the records in hand were finished, their offsets committed and the consumer closed in time
 * @param unfinished the partitions with records in hand when the time was up; what is not committed is rolled back by the
 *     database and delivered again to the next owner
 */
public record StopReport(boolean drained, Set<TopicPartition> unfinished) {
    /** Copies the set. */
    public StopReport {
        unfinished = Set.copyOf(unfinished);
    }
}
