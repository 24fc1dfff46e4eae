package dev.idempotency.kafka;

import dev.idempotency.event.EventContext;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * What a consumer does about one record; applications implement it.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 */
@FunctionalInterface
public interface RecordHandler<K, V> {
    /**
     * Handles a record; called only for events that this consumer has not processed, in the order of their partition.
     *
     * <p>It must write through {@link EventContext#transaction()}, and must let an exception out if the record is not
     * handled. A record without a value (a tombstone) comes like any other.
     *
     * @param record the record, decoded
     * @param context the event's id, the transaction, the keys of outgoing calls
     * @throws Exception to roll the transaction back; the record is tried again
     */
    void handle(ConsumerRecord<K, V> record, EventContext context) throws Exception;
}
