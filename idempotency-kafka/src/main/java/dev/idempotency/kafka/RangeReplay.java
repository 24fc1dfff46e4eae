package dev.idempotency.kafka;

import dev.idempotency.event.Delivery;
import dev.idempotency.event.EventProcessor;
import dev.idempotency.event.PartitionDeliveries;
import dev.idempotency.event.ProcessingFailure;
import dev.idempotency.event.ProcessingResult;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.PartitionAssignment;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/** Reads a part of a topic outside any group and has it processed by the marks alone. */
final class RangeReplay {
    private static final Duration POLL = Duration.ofSeconds(1);

    private final Settings settings;
    private final EventProcessor<Received> processor;
    private final Map<String, Object> properties;

    RangeReplay(Settings settings, EventProcessor<Received> processor, Map<String, Object> properties) {
        this.settings = settings;
        this.processor = processor;
        this.properties = new HashMap<>(properties);
        this.properties.remove(ConsumerConfig.GROUP_ID_CONFIG);
        this.properties.remove(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG);
        this.properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    }

    /** How far the replay of one partition has come. */
    private static final class Part {
        private final EventPartition partition;
        private final long end;
        private TopicReplay.@Nullable Stop stop;

        Part(EventPartition partition, long end) {
            this.partition = partition;
            this.end = end;
        }
    }

    TopicReplay run(TopicRange range) {
        try (TopicIds topicIds = new TopicIds(properties);
                Consumer<byte[], byte[]> consumer =
                        new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            UUID id = topicIds.resolve(List.of(range.topic())).get(range.topic());
            if (id == null) {
                throw new KafkaException("The brokers told no id of the topic " + range.topic());
            }
            List<TopicPartition> partitions = consumer.partitionsFor(range.topic()).stream()
                    .map(info -> new TopicPartition(info.topic(), info.partition()))
                    .filter(range::includes)
                    .toList();
            consumer.assign(partitions);
            Map<TopicPartition, Part> parts = seek(consumer, partitions, range, id);
            return run(consumer, parts);
        }
    }

    private static Map<TopicPartition, Part> seek(
            Consumer<byte[], byte[]> consumer, List<TopicPartition> partitions, TopicRange range, UUID id) {
        Map<TopicPartition, Long> first = consumer.beginningOffsets(partitions);
        Map<TopicPartition, Long> last = consumer.endOffsets(partitions);
        Map<TopicPartition, Long> from = at(consumer, partitions, range.fromTime(), first, last);
        Map<TopicPartition, Long> to = at(consumer, partitions, range.toTime(), last, last);
        Map<TopicPartition, Part> parts = new HashMap<>();
        for (TopicPartition partition : partitions) {
            consumer.seek(partition, Math.max(range.fromOffset(), from.getOrDefault(partition, 0L)));
            parts.put(
                    partition,
                    new Part(
                            new EventPartition(partition.topic(), id, partition.partition()),
                            Math.min(range.toOffset(), to.getOrDefault(partition, 0L))));
        }
        return parts;
    }

    /** The offsets at a time; behind the last record where there is none as late, and the usual ones without a time. */
    private static Map<TopicPartition, Long> at(
            Consumer<byte[], byte[]> consumer,
            Collection<TopicPartition> partitions,
            @Nullable Instant time,
            Map<TopicPartition, Long> usual,
            Map<TopicPartition, Long> last) {
        if (time == null) {
            return usual;
        }
        Map<TopicPartition, Long> offsets = new HashMap<>(last);
        Map<TopicPartition, Long> asked =
                partitions.stream().collect(Collectors.toMap(partition -> partition, partition -> time.toEpochMilli()));
        consumer.offsetsForTimes(asked).forEach((partition, found) -> put(offsets, partition, found));
        return offsets;
    }

    private static void put(
            Map<TopicPartition, Long> offsets, TopicPartition partition, @Nullable OffsetAndTimestamp found) {
        if (found != null) {
            offsets.put(partition, found.offset());
        }
    }

    private TopicReplay run(Consumer<byte[], byte[]> consumer, Map<TopicPartition, Part> parts) {
        long handled = 0;
        long duplicates = 0;
        int troubles = 0;
        while (pauseWhatIsDone(consumer, parts)) {
            ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
            List<PartitionDeliveries<Received>> deliveries = new ArrayList<>();
            for (TopicPartition partition : records.partitions()) {
                Part part = parts.get(partition);
                if (part != null) {
                    addDeliveries(part, records.records(partition), consumer.position(partition), deliveries);
                }
            }
            if (deliveries.isEmpty()) {
                continue;
            }
            ProcessingResult<Received> result = processor.processAgain(deliveries, () -> true);
            handled += result.handled();
            duplicates += result.duplicates();
            troubles = result.failures().isEmpty() ? 0 : troubles + 1;
            settle(consumer, parts, deliveries, result, troubles);
        }
        Map<TopicPartition, TopicReplay.Stop> stopped = new HashMap<>();
        parts.forEach((partition, part) -> {
            TopicReplay.Stop stop = part.stop;
            if (stop != null) {
                stopped.put(partition, stop);
            }
        });
        return new TopicReplay(handled, duplicates, stopped);
    }

    /** True while something is left to read. */
    private static boolean pauseWhatIsDone(Consumer<byte[], byte[]> consumer, Map<TopicPartition, Part> parts) {
        List<TopicPartition> done = new ArrayList<>();
        parts.forEach((partition, part) -> {
            if (part.stop != null || consumer.position(partition) >= part.end) {
                done.add(partition);
            }
        });
        consumer.pause(done);
        return done.size() < parts.size();
    }

    private void addDeliveries(
            Part part,
            List<ConsumerRecord<byte[], byte[]>> records,
            long position,
            List<PartitionDeliveries<Received>> deliveries) {
        List<Delivery<Received>> received = new ArrayList<>();
        for (ConsumerRecord<byte[], byte[]> record : records) {
            if (record.offset() < part.end) {
                received.add(Intake.delivery(settings, part.partition, record, 1));
            }
        }
        if (!received.isEmpty()) {
            PartitionAssignment nobodys = new PartitionAssignment(part.partition, 0, null);
            deliveries.add(new PartitionDeliveries<>(nobodys, received, position));
        }
    }

    /** What lost against others is read again, a few times; anything else ends the replay of its partition. */
    private void settle(
            Consumer<byte[], byte[]> consumer,
            Map<TopicPartition, Part> parts,
            List<PartitionDeliveries<Received>> deliveries,
            ProcessingResult<Received> result,
            int troubles) {
        for (PartitionDeliveries<Received> delivered : deliveries) {
            EventPartition partition = delivered.assignment().partition();
            long next = result.progress()
                    .getOrDefault(partition, delivered.deliveries().get(0).offset());
            if (next >= delivered.end()) {
                continue;
            }
            TopicPartition topicPartition = new TopicPartition(partition.topic(), partition.number());
            consumer.seek(topicPartition, next);
            Part part = parts.get(topicPartition);
            Exception cause = cause(result, partition);
            boolean repeats = cause == null && troubles < settings.retry().maxAttempts();
            if (part != null && !repeats) {
                part.stop = new TopicReplay.Stop(
                        next, cause != null ? cause : new KafkaException("Concurrent transactions won each time"));
            }
        }
    }

    /** Why a partition cannot go on; null if a repetition will tell more. */
    private static @Nullable Exception cause(ProcessingResult<Received> result, EventPartition partition) {
        for (ProcessingFailure<Received> failure : result.failures()) {
            if (failure instanceof ProcessingFailure.HandlerFailed<Received> failed
                    && failed.partition().equals(partition)) {
                return failed.cause();
            }
            if (failure instanceof ProcessingFailure.ConnectionLost<Received> lost
                    && lost.partition().equals(partition)) {
                return lost.cause();
            }
            if (failure instanceof ProcessingFailure.Unavailable<Received> unavailable) {
                return unavailable.cause();
            }
        }
        return null;
    }
}
