package dev.idempotency.kafka;

import dev.idempotency.EventId;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Finds the identity that the producer gave to an event; {@link EventIds} has the usual ones, applications may implement
 * their own.
 *
 * <p>It must find the same id in every delivery of the event. It sees the record before it is decoded. Implementations
 * are safe for use by many threads.
 */
@FunctionalInterface
public interface EventIdExtractor {
    /**
     * Looks for the event's id.
     *
     * @param record the record as received
     * @return the id; empty if this record has none of this kind
     * @throws IllegalArgumentException if there is something in the id's place that is no id; the record is then treated
     *     as one without an id, and the message is kept with it
     */
    Optional<EventId> extract(ConsumerRecord<byte[], byte[]> record);
}
