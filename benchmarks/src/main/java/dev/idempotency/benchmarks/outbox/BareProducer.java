package dev.idempotency.benchmarks.outbox;

import dev.idempotency.OutboxEvent;
import dev.idempotency.benchmarks.database.TimeOrderedIds;
import dev.idempotency.benchmarks.harness.Sample;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** Kafka's producer alone, with the settings of the relay's publisher: what no relay can beat. */
final class BareProducer {
    /** The library's defaults, written out: if they change, the baseline must not change with them. */
    private static final Map<String, Object> SETTINGS = Map.of(
            "acks",
            "all",
            "enable.idempotence",
            "true",
            "linger.ms",
            5,
            "batch.size",
            131_072,
            "buffer.memory",
            67_108_864L);

    private BareProducer() {}

    static Sample send(Map<String, Object> connection, TimeOrderedIds ids, int events) throws InterruptedException {
        Map<String, Object> settings = new HashMap<>(SETTINGS);
        settings.putAll(connection);
        CountDownLatch left = new CountDownLatch(events);
        AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            long begin = System.nanoTime();
            for (int i = 0; i < events; i++) {
                // Its outcome comes by the callback.
                Future<RecordMetadata> unused = producer.send(record(ids.next()), (metadata, exception) -> {
                    if (exception != null) {
                        failure.compareAndSet(null, exception);
                    }
                    left.countDown();
                });
            }
            producer.flush();
            boolean done = left.await(1, TimeUnit.MINUTES);
            double seconds = (System.nanoTime() - begin) / 1e9;
            Exception failed = failure.get();
            if (!done || failed != null) {
                throw new IllegalStateException("Not all of " + events + " events were acknowledged", failed);
            }
            return Sample.of(OutboxForms.EVENTS, events / seconds);
        }
    }

    static ProducerRecord<byte[], byte[]> record(UUID id) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                OutboxForms.TOPIC, id.toString().getBytes(StandardCharsets.UTF_8), OutboxForms.payload());
        record.headers().add(OutboxEvent.EVENT_ID_HEADER, id.toString().getBytes(StandardCharsets.UTF_8));
        return record;
    }
}
