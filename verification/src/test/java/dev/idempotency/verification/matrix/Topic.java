package dev.idempotency.verification.matrix;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** One topic for all relays, read to its end whenever somebody asks what has arrived. */
final class Topic implements AutoCloseable {
    static final String NAME = "relayed";
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final List<TopicPartition> partitions = List.of(new TopicPartition(NAME, 0));
    private final List<Arrived> arrived = new ArrayList<>();

    Topic(String brokers) {
        consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", brokers), new ByteArrayDeserializer(), new ByteArrayDeserializer());
        consumer.assign(partitions);
        consumer.seekToBeginning(partitions);
    }

    /** What has arrived so far under this key, in order, duplicates included. */
    List<Arrived> arrived(String key) {
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (partitions.stream().anyMatch(each -> consumer.position(each) < ends.getOrDefault(each, 0L))) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("The topic was not read to its end within " + PATIENCE);
            }
            consumer.poll(Duration.ofMillis(50)).forEach(sent -> arrived.add(Arrived.of(sent)));
        }
        return arrived.stream().filter(each -> each.key().equals(key)).toList();
    }

    @Override
    public void close() {
        consumer.close();
    }

    record Arrived(String eventId, String key, String value) {
        static Arrived of(ConsumerRecord<byte[], byte[]> sent) {
            return new Arrived(
                    text(sent.headers().lastHeader("eventId").value()), text(sent.key()), text(sent.value()));
        }

        private static String text(byte[] bytes) {
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }
}
