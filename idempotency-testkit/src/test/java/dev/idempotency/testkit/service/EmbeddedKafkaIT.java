package dev.idempotency.testkit.service;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class EmbeddedKafkaIT {
    @Test
    @Timeout(value = 3, unit = TimeUnit.MINUTES)
    void start_brokerRestarted_recordIsStillThere() throws Exception {
        try (EmbeddedKafka kafka = EmbeddedKafka.start()) {
            kafka.createTopic("letters", 2);
            kafka.createTopic("letters", 2);
            send(kafka, "first");

            int broker = kafka.brokers().iterator().next();
            String address = kafka.bootstrapServers();
            kafka.stopBroker(broker);
            kafka.startBroker(broker);
            send(kafka, "second");

            assertThat(kafka.bootstrapServers()).isEqualTo(address);
            assertThat(read(kafka, 2)).isEqualTo(2);
        }
    }

    @Test
    @Timeout(value = 3, unit = TimeUnit.MINUTES)
    void createTopic_thenAPipelinedProducer_allItsBatchesAreTaken() throws Exception {
        try (EmbeddedKafka kafka = EmbeddedKafka.start()) {
            for (int round = 0; round < 15; round++) {
                String topic = "fresh-" + round;
                // Many small batches on the way at once, and a short time for one that is out of order to show it.
                Map<String, Object> settings = Map.of(
                        "bootstrap.servers",
                        kafka.bootstrapServers(),
                        "linger.ms",
                        0,
                        "batch.size",
                        1_000,
                        "request.timeout.ms",
                        2_000,
                        "delivery.timeout.ms",
                        10_000);
                Queue<Exception> failures = new ConcurrentLinkedQueue<>();
                try (KafkaProducer<byte[], byte[]> producer =
                        new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
                    kafka.createTopic(topic, 8);
                    for (int i = 0; i < 400; i++) {
                        Future<RecordMetadata> unused = producer.send(
                                new ProducerRecord<>(topic, i % 8, null, new byte[200]), (metadata, exception) -> {
                                    if (exception != null) {
                                        failures.add(exception);
                                    }
                                });
                    }
                    producer.flush();
                }
                assertThat(failures).as(topic).isEmpty();
            }
        }
    }

    private static void send(EmbeddedKafka kafka, String value) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", kafka.bootstrapServers()),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>("letters", 1, null, value.getBytes(UTF_8)))
                    .get(60, TimeUnit.SECONDS);
        }
    }

    private static int read(EmbeddedKafka kafka, int wanted) {
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", kafka.bootstrapServers(), "auto.offset.reset", "earliest"),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer())) {
            consumer.assign(List.of(new TopicPartition("letters", 1)));
            int found = 0;
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (found < wanted && System.nanoTime() < deadline) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(200));
                found += records.count();
            }
            return found;
        }
    }
}
