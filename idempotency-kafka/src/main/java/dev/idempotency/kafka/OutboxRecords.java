package dev.idempotency.kafka;

import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.OutboxRow;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.OptionalInt;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;

/** Makes Kafka's records of outbox rows, and finds out beforehand what the broker would refuse. Thread-safe. */
final class OutboxRecords implements AutoCloseable {
    /** What a batch and a record's own framing add to key, value and headers at the most. */
    private static final int FRAMING_BYTES = 150;

    private final byte @Nullable [] source;
    private final boolean compressing;
    private final TopicLimits limits;

    OutboxRecords(Map<String, Object> producerSettings, @Nullable String source) {
        this.source = source == null ? null : utf8(source);
        this.compressing = !"none"
                .equals(OutboxProducerSettings.parse(producerSettings)
                        .getString(ProducerConfig.COMPRESSION_TYPE_CONFIG));
        this.limits = new TopicLimits(producerSettings);
    }

    /** Without this the producer waits for the partition to come up and reports a time-out, as of a broker that is down. */
    static void checkPartition(Producer<byte[], byte[]> sender, OutboxEvent event) {
        if (event.partition().isEmpty()) {
            return;
        }
        int partitions = sender.partitionsFor(event.topic()).size();
        if (event.partition().getAsInt() >= partitions) {
            throw new InvalidRecordException("The event asks for partition "
                    + event.partition().getAsInt() + ", but the topic " + event.topic() + " has " + partitions);
        }
    }

    ProducerRecord<byte[], byte[]> toRecord(OutboxRow row) {
        OutboxEvent event = row.event();
        OptionalInt partition = event.partition();
        return new ProducerRecord<>(
                event.topic(),
                partition.isPresent() ? partition.getAsInt() : null,
                null,
                event.key().orElse(null),
                event.payload().orElse(null),
                headers(row));
    }

    private Headers headers(OutboxRow row) {
        OutboxEvent event = row.event();
        RecordHeaders headers = new RecordHeaders();
        headers.add(OutboxEvent.EVENT_ID_HEADER, utf8(row.eventId().toString()));
        headers.add(OutboxEvent.SEQUENCE_HEADER, utf8(Long.toString(row.sequence())));
        if (source != null) {
            headers.add(OutboxEvent.SOURCE_HEADER, source);
        }
        event.type().ifPresent(type -> headers.add(OutboxEvent.EVENT_TYPE_HEADER, utf8(type)));
        event.tenant().ifPresent(tenant -> headers.add(OutboxEvent.TENANT_HEADER, utf8(tenant)));
        event.headers().forEach((name, value) -> headers.add(name, utf8(value)));
        return headers;
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Finds out beforehand what the broker would refuse: batched with others, one oversize record makes them fail too
     * (KAFKA-8350). A compressed record may be smaller than it looks, so it is left to the broker.
     */
    @Nullable
    RecordTooLargeException tooLarge(OutboxRow row, ProducerRecord<byte[], byte[]> sent) {
        if (compressing) {
            return null;
        }
        long size = row.event().sizeBytes() + FRAMING_BYTES;
        for (var header : sent.headers()) {
            if (!row.event().headers().containsKey(header.key())) {
                size += header.key().length() + header.value().length + 4L;
            }
        }
        long most = limits.mostBytes(sent.topic());
        return size <= most
                ? null
                : new RecordTooLargeException("The record would have about " + size + " bytes, but the topic "
                        + sent.topic() + " takes at most " + most + " (max.message.bytes)");
    }

    @Override
    public void close() {
        limits.close();
    }
}
