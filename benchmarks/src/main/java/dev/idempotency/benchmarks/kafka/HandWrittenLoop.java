package dev.idempotency.benchmarks.kafka;

import dev.idempotency.benchmarks.database.Effects;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * The loop that an application would write for itself: a transaction per poll or per record, then the offset, without
 * waiting for the broker. It does not survive what the library survives. Used by one thread.
 */
final class HandWrittenLoop {
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    private final Map<String, Object> properties;
    private final DataSource pool;
    private final AtomicInteger groups = new AtomicInteger();

    /** Handles what one poll has brought, and returns how many records that were. */
    @FunctionalInterface
    interface Handler {
        int handle(DataSource pool, List<ConsumerRecord<byte[], byte[]>> records) throws SQLException;
    }

    HandWrittenLoop(Map<String, Object> properties, DataSource pool) {
        this.properties = properties;
        this.pool = pool;
    }

    /** Runs until so many records are handled. */
    double seconds(String topic, int pollRecords, int expected, Handler handler) throws Exception {
        Map<String, Object> settings = new HashMap<>(properties);
        settings.put("group.id", "by-hand-" + groups.incrementAndGet() + "-" + topic);
        settings.put("auto.offset.reset", "earliest");
        settings.put("enable.auto.commit", "false");
        settings.put("isolation.level", "read_committed");
        settings.put("max.poll.records", pollRecords);
        Progress progress = new Progress(expected);
        long end = System.nanoTime() + PATIENCE.toNanos();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(topic));
            while (!progress.isDone() && System.nanoTime() < end) {
                ConsumerRecords<byte[], byte[]> polled = consumer.poll(POLL);
                if (!polled.isEmpty()) {
                    progress.arrived();
                    List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>(polled.count());
                    polled.forEach(records::add);
                    progress.handled(handler.handle(pool, records));
                    consumer.commitAsync();
                }
            }
        }
        return progress.awaitSeconds();
    }

    static int rowByRow(DataSource pool, List<ConsumerRecord<byte[], byte[]>> records) throws SQLException {
        Effects.inBareTransaction(pool, connection -> {
            for (ConsumerRecord<byte[], byte[]> record : records) {
                Effects.insert(connection, Topics.source(record));
            }
        });
        return records.size();
    }

    static int batch(DataSource pool, List<ConsumerRecord<byte[], byte[]>> records) throws SQLException {
        List<UUID> sources = records.stream().map(Topics::source).toList();
        Effects.inBareTransaction(pool, connection -> Effects.insertAll(connection, sources));
        return records.size();
    }

    /** A transaction for each record, with the insert of its mark first. */
    static int markedOneByOne(DataSource pool, List<ConsumerRecord<byte[], byte[]>> records) throws SQLException {
        for (ConsumerRecord<byte[], byte[]> record : records) {
            UUID source = Topics.source(record);
            Effects.inBareTransaction(pool, connection -> {
                if (isFresh(connection, source)) {
                    Effects.insert(connection, source);
                }
            });
        }
        return records.size();
    }

    /** A transaction for each poll, in which every record's mark is inserted. */
    static int markedRowByRow(DataSource pool, List<ConsumerRecord<byte[], byte[]>> records) throws SQLException {
        Effects.inBareTransaction(pool, connection -> {
            for (ConsumerRecord<byte[], byte[]> record : records) {
                UUID source = Topics.source(record);
                if (isFresh(connection, source)) {
                    Effects.insert(connection, source);
                }
            }
        });
        return records.size();
    }

    static boolean isFresh(Connection connection, UUID id) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(
                "INSERT INTO bench_mark (event_id, consumer_id) VALUES (?, 1) ON CONFLICT DO NOTHING")) {
            statement.setObject(1, id);
            return statement.executeUpdate() == 1;
        }
    }
}
