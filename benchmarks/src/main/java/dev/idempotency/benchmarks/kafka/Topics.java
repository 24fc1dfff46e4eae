package dev.idempotency.benchmarks.kafka;

import dev.idempotency.OutboxEvent;
import dev.idempotency.benchmarks.database.TimeOrderedIds;
import dev.idempotency.testkit.service.EmbeddedKafka;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Topics with events, which every run reads from their beginning. */
final class Topics {
    static final int PARTITIONS = 4;

    private static final int PAYLOAD_BYTES = 200;

    private final TimeOrderedIds ids = new TimeOrderedIds();
    private final EmbeddedKafka kafka;

    Topics(EmbeddedKafka kafka) {
        this.kafka = kafka;
    }

    /** Creates a topic and sends so many events to it. */
    List<UUID> create(String topic, int partitions, int events) throws Exception {
        kafka.createTopic(topic, partitions);
        return send(topic, partitions, events);
    }

    /** Sends events to all partitions alike. */
    List<UUID> send(String topic, int partitions, int events) throws Exception {
        List<UUID> sent = ids.next(events);
        List<Future<RecordMetadata>> answers = new ArrayList<>(events);
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", kafka.bootstrapServers()),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            for (int i = 0; i < events; i++) {
                answers.add(producer.send(record(topic, i % partitions, sent.get(i))));
            }
            for (Future<RecordMetadata> answer : answers) {
                answer.get();
            }
        }
        return sent;
    }

    /** The event's id as the business sees it, in the payload. */
    static UUID source(ConsumerRecord<byte[], byte[]> record) {
        ByteBuffer payload = ByteBuffer.wrap(record.value());
        return new UUID(payload.getLong(), payload.getLong());
    }

    private static ProducerRecord<byte[], byte[]> record(String topic, int partition, UUID id) {
        byte[] payload = new byte[PAYLOAD_BYTES];
        ByteBuffer.wrap(payload).putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits());
        byte[] text = id.toString().getBytes(StandardCharsets.UTF_8);
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, partition, text, payload);
        record.headers().add(OutboxEvent.EVENT_ID_HEADER, text);
        return record;
    }
}
