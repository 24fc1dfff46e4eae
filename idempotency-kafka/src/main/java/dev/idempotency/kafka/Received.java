package dev.idempotency.kafka;

import dev.idempotency.spi.ParkedEvent;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;

/** A record on its way to the handler, not yet decoded; with a rejection it never gets there. */
record Received(
        ConsumerRecord<byte[], byte[]> record, @Nullable RejectedRecordException rejection) {

    /** The record as it was when it was parked. */
    @SuppressWarnings("NullAway") // a key or a value may be null, which Kafka's types do not say
    static Received ofParked(ParkedEvent event) {
        byte[] key = event.key();
        byte[] value = event.value();
        RecordHeaders headers = new RecordHeaders();
        event.headers().forEach(header -> headers.add(header.name(), header.value()));
        return new Received(
                new ConsumerRecord<>(
                        event.partition().topic(),
                        event.partition().number(),
                        event.offset(),
                        event.timestamp().toEpochMilli(),
                        TimestampType.CREATE_TIME,
                        key == null ? ConsumerRecord.NULL_SIZE : key.length,
                        value == null ? ConsumerRecord.NULL_SIZE : value.length,
                        key,
                        value,
                        headers,
                        Optional.empty()),
                null);
    }
}
