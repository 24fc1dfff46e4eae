package dev.idempotency.kafka;

import dev.idempotency.testkit.service.EmbeddedKafka;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads what has arrived in a topic, without a consumer group. */
final class KafkaRecords {
    private static final Duration DEADLINE = Duration.ofSeconds(60);

    private KafkaRecords() {}

    /**
     * Reads from the beginning until there are this many records, and then until the end of each partition, so that
     * duplicates are seen too.
     */
    static List<ConsumerRecord<byte[], byte[]>> read(EmbeddedKafka kafka, String topic, int atLeast) {
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", kafka.bootstrapServers()),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
                    .map(info -> new TopicPartition(topic, info.partition()))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
            long deadline = System.nanoTime() + DEADLINE.toNanos();
            while (records.size() < atLeast || !isAtEnd(consumer, partitions)) {
                if (System.nanoTime() > deadline) {
                    throw new AssertionError(
                            "Only " + records.size() + " of " + atLeast + " records came within " + DEADLINE);
                }
                consumer.poll(Duration.ofMillis(100)).forEach(records::add);
            }
            return records;
        }
    }

    private static boolean isAtEnd(KafkaConsumer<byte[], byte[]> consumer, List<TopicPartition> partitions) {
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        return partitions.stream()
                .allMatch(partition -> consumer.position(partition) >= ends.getOrDefault(partition, 0L));
    }
}
