package dev.idempotency.examples.chain;

import dev.idempotency.examples.chain.service.Json;
import dev.idempotency.examples.chain.service.OrderPlaced;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/** The topic between the services, read by the driver for its own count. For one thread at a time. */
final class Topic implements AutoCloseable {
    static final int PARTITIONS = 3;

    private final KafkaConsumer<String, byte[]> consumer;
    private final List<TopicPartition> partitions = new ArrayList<>();
    private final Set<String> eventIds = new HashSet<>();
    private final Set<UUID> announcedOrders = new HashSet<>();
    private int messages;

    Topic(String bootstrapServers, String group) {
        Map<String, Object> properties = new HashMap<>();
        properties.put("bootstrap.servers", bootstrapServers);
        // Only to ask for the group's offsets: partitions are assigned by hand and nothing is committed.
        properties.put("group.id", group);
        properties.put("enable.auto.commit", "false");
        consumer = new KafkaConsumer<>(properties, new StringDeserializer(), new ByteArrayDeserializer());
        for (int partition = 0; partition < PARTITIONS; partition++) {
            partitions.add(new TopicPartition(OrderPlaced.TOPIC, partition));
        }
        consumer.assign(partitions);
        consumer.seekToBeginning(partitions);
    }

    /** Reads what is new. */
    void read() {
        for (ConsumerRecord<String, byte[]> message : consumer.poll(Duration.ofMillis(100))) {
            messages++;
            announcedOrders.add(Json.read(message.value(), OrderPlaced.class).orderId());
            Header id = message.headers().lastHeader("eventId");
            eventIds.add(
                    id == null
                            ? message.partition() + "@" + message.offset()
                            : new String(id.value(), StandardCharsets.UTF_8));
        }
    }

    /** Returns how many messages the group has still to process, by the offsets that it committed. */
    long lag() {
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        Map<TopicPartition, OffsetAndMetadata> committed = consumer.committed(Set.copyOf(partitions));
        long lag = 0;
        for (TopicPartition partition : partitions) {
            OffsetAndMetadata position = committed.get(partition);
            lag += ends.getOrDefault(partition, 0L) - (position == null ? 0 : position.offset());
        }
        return lag;
    }

    int messages() {
        return messages;
    }

    int events() {
        return eventIds.size();
    }

    Set<UUID> announcedOrders() {
        return Set.copyOf(announcedOrders);
    }

    @Override
    public void close() {
        consumer.close();
    }
}
