package dev.idempotency.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.ConsumerId;
import dev.idempotency.event.EventContext;
import dev.idempotency.jdbi.JdbiEventStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.jdbi.SchemaInstaller;
import dev.idempotency.testkit.fault.FaultInjectingDataSource;
import dev.idempotency.testkit.service.EmbeddedKafka;
import dev.idempotency.testkit.service.EmbeddedPostgreSql;
import dev.idempotency.testkit.service.PostgreSqlDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/** A topic of its own, a database of its own and a ledger of effects: what a test of a consumer stands on. */
final class Bench implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofSeconds(90);

    final ConsumerId consumerId = ConsumerId.of("billing");
    final String topic = "orders-" + UUID.randomUUID();
    final EmbeddedKafka kafka;
    final PostgreSqlDatabase database;
    final FaultInjectingDataSource faults;
    final HikariDataSource pool;
    final JdbiEventStore store;
    final JdbiTransactionRunner transactions;
    private final KafkaProducer<byte[], byte[]> producer;

    Bench(EmbeddedKafka kafka, int partitions) {
        this.kafka = kafka;
        kafka.createTopic(topic, partitions);
        this.database = EmbeddedPostgreSql.shared().createDatabase();
        this.faults = FaultInjectingDataSource.wrap(database.dataSource());
        this.pool = pool(faults);
        SchemaInstaller.of(pool).install();
        update(
                "CREATE TABLE effect (seq bigserial PRIMARY KEY, consumer text, event_id text NOT NULL, topic_partition int"
                        + " NOT NULL, record_offset bigint NOT NULL)");
        this.store = JdbiEventStore.of(pool);
        this.transactions = JdbiTransactionRunner.of(pool);
        this.producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", kafka.bootstrapServers(), "linger.ms", "5"),
                new ByteArraySerializer(),
                new ByteArraySerializer());
    }

    private static HikariDataSource pool(FaultInjectingDataSource faults) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(faults);
        config.setMaximumPoolSize(8);
        config.setConnectionTimeout(10_000);
        return new HikariDataSource(config);
    }

    IdempotentConsumerBuilder<String, String> consumer() {
        return consumer(Map.of());
    }

    IdempotentConsumerBuilder<String, String> consumer(Map<String, String> more) {
        Map<String, String> properties = new HashMap<>();
        properties.put("bootstrap.servers", kafka.bootstrapServers());
        properties.put("group.id", topic);
        properties.putAll(more);
        return IdempotentConsumer.<String, String>builder()
                .consumer(consumerId)
                .topics(topic)
                .properties(properties)
                .deserializers(new StringDeserializer(), new StringDeserializer())
                .store(store)
                .transactions(transactions);
    }

    /** The effect of one record: a row in the ledger, in the transaction of the mark. */
    static void effect(ConsumerRecord<String, String> record, EventContext context) throws SQLException {
        Connection connection = context.transaction().unwrap(Connection.class);
        try (PreparedStatement insert = connection.prepareStatement(
                "INSERT INTO effect (consumer, event_id, topic_partition, record_offset) VALUES (?, ?, ?, ?)")) {
            insert.setString(1, context.consumer().value());
            insert.setString(2, context.eventId().value());
            insert.setInt(3, record.partition());
            insert.setLong(4, record.offset());
            insert.executeUpdate();
        }
    }

    void send(int partition, String eventId, String value) {
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>(topic, partition, ("key-" + partition).getBytes(UTF_8), value.getBytes(UTF_8));
        record.headers().add("eventId", eventId.getBytes(UTF_8));
        send(record);
    }

    void send(ProducerRecord<byte[], byte[]> record) {
        sendAll(List.of(record));
    }

    void sendAll(List<ProducerRecord<byte[], byte[]>> records) {
        try {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            records.forEach(record -> sent.add(producer.send(record)));
            for (Future<RecordMetadata> future : sent) {
                future.get(60, TimeUnit.SECONDS);
            }
        } catch (Exception e) {
            throw new IllegalStateException("The test could not produce", e);
        }
    }

    ProducerRecord<byte[], byte[]> record(int partition, String eventId, String value) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, partition, null, value.getBytes(UTF_8));
        record.headers().add("eventId", eventId.getBytes(UTF_8));
        return record;
    }

    ProducerRecord<byte[], byte[]> recordTo(String otherTopic, String eventId) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(otherTopic, 0, null, new byte[] {'v'});
        record.headers().add("eventId", eventId.getBytes(UTF_8));
        return record;
    }

    List<String> effects() {
        return strings("SELECT event_id FROM effect ORDER BY seq");
    }

    List<String> strings(String query) {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            List<String> values = new ArrayList<>();
            while (rows.next()) {
                values.add(rows.getString(1));
            }
            return values;
        } catch (SQLException e) {
            throw new IllegalStateException(query, e);
        }
    }

    long number(String query) {
        return Long.parseLong(strings(query).get(0));
    }

    void update(String command) {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(command);
        } catch (SQLException e) {
            throw new IllegalStateException(command, e);
        }
    }

    /** The offset that Kafka holds for the group; -1 if none. */
    long committed(int partition) {
        try {
            Map<TopicPartition, OffsetAndMetadata> offsets = kafka.admin()
                    .listConsumerGroupOffsets(topic)
                    .partitionsToOffsetAndMetadata()
                    .get(60, TimeUnit.SECONDS);
            OffsetAndMetadata offset = offsets.get(new TopicPartition(topic, partition));
            return offset == null ? -1 : offset.offset();
        } catch (Exception e) {
            throw new IllegalStateException("The test could not read the group's offsets", e);
        }
    }

    static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("Not within " + PATIENCE + ": " + what);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }

    @Override
    public void close() {
        producer.close(Duration.ZERO);
        pool.close();
        database.close();
    }
}
