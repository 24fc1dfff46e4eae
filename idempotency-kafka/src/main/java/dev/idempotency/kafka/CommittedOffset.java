package dev.idempotency.kafka;

import java.util.UUID;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;

/**
 * What the metadata of an offset in Kafka says of where it comes from: {@code idem:<topic id>:<epoch>} on those that this
 * library has committed. An offset with anything else was set by an operator or by another consumer; one of another topic
 * id belongs to a topic of that name that has been deleted since.
 */
final class CommittedOffset {
    private static final String PREFIX = "idem:";

    private CommittedOffset() {}

    static OffsetAndMetadata of(long offset, UUID topicId, long epoch) {
        return new OffsetAndMetadata(offset, PREFIX + topicId + ":" + epoch);
    }

    static boolean isOurs(OffsetAndMetadata committed) {
        return committed.metadata().startsWith(PREFIX);
    }

    static boolean isOfTopic(OffsetAndMetadata committed, UUID topicId) {
        return committed.metadata().startsWith(PREFIX + topicId + ":");
    }
}
