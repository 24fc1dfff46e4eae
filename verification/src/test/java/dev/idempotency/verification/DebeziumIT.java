package dev.idempotency.verification;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.ConsumerId;
import dev.idempotency.OutboxEvent;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.jdbi.JdbiEventStore;
import dev.idempotency.jdbi.JdbiOutboxStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.jdbi.SchemaInstaller;
import dev.idempotency.kafka.IdempotentConsumer;
import dev.idempotency.kafka.KafkaOutboxPublisher;
import dev.idempotency.outbox.Outbox;
import dev.idempotency.outbox.OutboxRelay;
import dev.idempotency.spi.PublishedRows;
import dev.idempotency.testkit.service.EmbeddedKafka;
import dev.idempotency.testkit.service.EmbeddedPostgreSql;
import dev.idempotency.testkit.service.PostgreSqlDatabase;
import dev.idempotency.transaction.TransactionLimits;
import io.debezium.embedded.Connect;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.RecordChangeEvent;
import io.debezium.engine.format.ChangeEventFormat;
import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.connect.converters.ByteArrayConverter;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.SimpleHeaderConverter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Debezium's outbox event router carries the events of the same table, with the settings of the page on it, to the same
 * consumer: each event takes effect once, also when Debezium delivers again and when our relay has sent it already.
 */
class DebeziumIT {
    private static final Duration DEADLINE = Duration.ofSeconds(60);
    private static final String TOPIC = "orders";

    @TempDir
    private Path folder;

    private final Map<UUID, Boolean> appended = new ConcurrentHashMap<>();
    private final AtomicBoolean loseOneAnswer = new AtomicBoolean();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private EmbeddedPostgreSql server;
    private EmbeddedKafka kafka;
    private PostgreSqlDatabase database;
    private HikariDataSource pool;
    private KafkaProducer<byte[], byte[]> producer;
    private IdempotentConsumer<String, String> consumer;

    @BeforeEach
    void open() throws SQLException {
        server = EmbeddedPostgreSql.start(Map.of("wal_level", "logical"));
        kafka = EmbeddedKafka.start();
        kafka.createTopic(TOPIC, 3);
        database = server.createDatabase();
        pool = OutboxChild.pool(database.url());
        SchemaInstaller.of(pool).install();
        execute("CREATE TABLE effect (event_id varchar(64) NOT NULL, event_type varchar(64), content text)");
        producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", kafka.bootstrapServers(), "acks", "all"),
                new ByteArraySerializer(),
                new ByteArraySerializer());
        consumer = consumer();
        consumer.start();
    }

    @AfterEach
    void close() {
        consumer.close();
        producer.close();
        threads.shutdownNow();
        pool.close();
        database.close();
        kafka.close();
        server.close();
    }

    @Test
    void eventsCarriedByDebezium_takeEffectOnce_alsoWhenDeliveredAgain_andBesideOurRelay() throws Exception {
        relayed(10);
        // Rows that our relay keeps, or deletes, are changes that the router must not take for events.
        append(40);
        loseOneAnswer.set(true);
        try (Engine engine = new Engine()) {
            awaitEffects(50);
            append(50);
            awaitEffects(100);
        }
        // The answer to one batch was lost, so it came again; nothing of that is to be seen here.
        assertThat(loseOneAnswer).isFalse();
        try (Engine again = new Engine()) {
            append(20);
            awaitEffects(120);
        }

        assertThat(effects("SELECT event_id FROM effect"))
                .hasSize(120)
                .doesNotHaveDuplicates()
                .containsExactlyInAnyOrderElementsOf(
                        appended.keySet().stream().map(UUID::toString).toList());
        assertThat(effects("SELECT DISTINCT event_type FROM effect")).containsExactly("OrderPlaced");
        // Order by key: within one partition the router keeps the order of the commits.
        List<String> ofOneKey = effects("SELECT content FROM effect WHERE content LIKE 'key-1:%' ORDER BY ctid");
        assertThat(ofOneKey.stream()
                        .map(content -> Integer.parseInt(content.substring(content.indexOf(':') + 1)))
                        .toList())
                .hasSize(40)
                .isSorted();
    }

    /** What was there before the move goes by our relay, and what comes later by Debezium; the ends may overlap. */
    private void relayed(int events) {
        append(events);
        JdbiOutboxStore store = JdbiOutboxStore.of(pool);
        try (KafkaOutboxPublisher publisher =
                        KafkaOutboxPublisher.of(Map.of("bootstrap.servers", kafka.bootstrapServers()));
                OutboxRelay relay = OutboxRelay.leasing(store, publisher)
                        .published(PublishedRows.KEEP)
                        .build()) {
            relay.start();
            await().atMost(DEADLINE)
                    .until(() -> effects("SELECT event_id FROM outbox_event WHERE done_at IS NULL")
                            .isEmpty());
        }
    }

    private void append(int events) {
        Outbox outbox = Outbox.of(JdbiOutboxStore.of(pool));
        for (int i = 0; i < events; i++) {
            int number = appended.size();
            UUID id = JdbiTransactionRunner.of(pool)
                    .run(
                            TransactionLimits.ofDefaults(),
                            transaction -> outbox.append(
                                    transaction,
                                    OutboxEvent.to(TOPIC)
                                            .key("key-" + number % 3)
                                            .type("OrderPlaced")
                                            .payload("key-" + number % 3 + ":" + number)
                                            .build()));
            appended.put(id, true);
        }
    }

    private void awaitEffects(int events) {
        await().atMost(DEADLINE)
                .until(() -> effects("SELECT event_id FROM effect").size() >= events);
    }

    private IdempotentConsumer<String, String> consumer() {
        return IdempotentConsumer.<String, String>builder()
                .consumer(ConsumerId.of("billing"))
                .topics(TOPIC)
                .properties(Map.of("bootstrap.servers", kafka.bootstrapServers(), "group.id", "billing"))
                .deserializers(new StringDeserializer(), new StringDeserializer())
                .store(JdbiEventStore.of(pool))
                .transactions(JdbiTransactionRunner.of(pool))
                .handler(TransactionScope.PER_BATCH, (received, context) -> {
                    try (PreparedStatement insert = context.transaction()
                            .unwrap(Connection.class)
                            .prepareStatement("INSERT INTO effect VALUES (?, ?, ?)")) {
                        insert.setString(1, context.eventId().value());
                        insert.setString(
                                2,
                                new String(
                                        received.headers()
                                                .lastHeader("eventType")
                                                .value(),
                                        StandardCharsets.UTF_8));
                        insert.setString(3, received.value());
                        insert.executeUpdate();
                    }
                })
                .build();
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private List<String> effects(String query) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            List<String> result = new ArrayList<>();
            while (rows.next()) {
                result.add(rows.getString(1));
            }
            return result;
        }
    }

    /** What Kafka Connect does with the page's settings, in this process. */
    private final class Engine implements AutoCloseable {
        private final DebeziumEngine<RecordChangeEvent<SourceRecord>> engine;
        private final ByteArrayConverter converter = new ByteArrayConverter();
        private final SimpleHeaderConverter headerConverter = new SimpleHeaderConverter();
        private final Future<?> running;

        Engine() {
            this.engine = DebeziumEngine.create(ChangeEventFormat.of(Connect.class))
                    .using(settings())
                    .notifying(this::send)
                    .build();
            this.running = threads.submit(engine);
        }

        /** The settings of the page, and what an engine outside Kafka Connect needs besides. */
        private Properties settings() {
            Properties settings = new Properties();
            try {
                String page = Files.readString(Path.of("../docs/debezium.md"));
                Matcher block = Pattern.compile("```properties\\R(.*?)```", Pattern.DOTALL)
                        .matcher(page);
                assertThat(block.find()).as("settings on the page").isTrue();
                settings.load(new StringReader(block.group(1)));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            settings.setProperty("database.port", Integer.toString(server.port()));
            settings.setProperty("database.dbname", database.name());
            settings.setProperty("offset.storage", "org.apache.kafka.connect.storage.FileOffsetBackingStore");
            settings.setProperty(
                    "offset.storage.file.filename", folder.resolve("offsets").toString());
            settings.setProperty("offset.flush.interval.ms", "0");
            return settings;
        }

        private void send(
                List<RecordChangeEvent<SourceRecord>> batch,
                DebeziumEngine.RecordCommitter<RecordChangeEvent<SourceRecord>> committer)
                throws InterruptedException {
            List<Future<RecordMetadata>> answers = new ArrayList<>();
            for (RecordChangeEvent<SourceRecord> change : batch) {
                SourceRecord source = change.record();
                RecordHeaders headers = new RecordHeaders();
                source.headers()
                        .forEach(header -> headers.add(
                                header.key(),
                                headerConverter.fromConnectHeader(
                                        source.topic(), header.key(), header.schema(), header.value())));
                ProducerRecord<byte[], byte[]> sent = new ProducerRecord<>(
                        source.topic(),
                        null,
                        converter.fromConnectData(source.topic(), source.keySchema(), source.key()),
                        converter.fromConnectData(source.topic(), source.valueSchema(), source.value()),
                        headers);
                answers.add(producer.send(sent));
                if (loseOneAnswer.compareAndSet(true, false)) {
                    answers.add(producer.send(sent));
                }
                committer.markProcessed(change);
            }
            for (Future<RecordMetadata> answer : answers) {
                try {
                    answer.get();
                } catch (ExecutionException e) {
                    throw new IllegalStateException("Kafka refused a record", e);
                }
            }
            committer.markBatchFinished();
        }

        @Override
        public void close() throws Exception {
            engine.close();
            running.get();
        }
    }
}
