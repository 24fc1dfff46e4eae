package dev.idempotency.verification;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.jdbi.SchemaInstaller;
import dev.idempotency.outbox.OutboxRelay;
import dev.idempotency.spi.OutboxPublisher;
import dev.idempotency.testkit.process.ChildJvm;
import dev.idempotency.testkit.process.CrashPoint;
import dev.idempotency.testkit.service.EmbeddedKafka;
import dev.idempotency.testkit.service.EmbeddedPostgreSql;
import dev.idempotency.testkit.service.PostgreSqlDatabase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A process dies while it appends, or a relay sleeps through its lease: every committed event reaches Kafka, and what
 * arrives twice carries the same id. A relay that dies between claim, send and mark is a case of the crash matrix.
 */
class OutboxCrashIT {
    private static final Duration DEADLINE = Duration.ofSeconds(90);
    private static final int EVENTS = 12;
    private static final String TOPIC = "orders";

    private static EmbeddedKafka kafka;
    private static int topics;

    private PostgreSqlDatabase database;
    private HikariDataSource pool;
    private String topic;

    @BeforeAll
    static void startKafka() {
        kafka = EmbeddedKafka.start();
    }

    @AfterAll
    static void stopKafka() {
        kafka.close();
    }

    @BeforeEach
    void open() {
        database = EmbeddedPostgreSql.shared().createDatabase();
        pool = OutboxChild.pool(database.url());
        SchemaInstaller.of(pool).install();
        topic = TOPIC + "-" + ++topics;
        kafka.createTopic(topic, 2);
    }

    @AfterEach
    void close() {
        pool.close();
        database.close();
    }

    @ParameterizedTest(name = "append dies at {0}")
    @CsvSource({
        "business.begun, 0",
        "outbox.appending, 0",
        "outbox.appended, 0",
        "business.committing, 0",
        "business.committed, 12"
    })
    void append_processDies_isAllOrNothing(String step, int committed) throws SQLException {
        try (ChildJvm child = ChildJvm.of(OutboxChild.class)
                .arguments("append", database.url(), topic, EVENTS)
                .crashAt(CrashPoint.haltAt(step))
                .start()) {
            child.awaitCrash(DEADLINE);
        }

        // A session whose client has died is rolled back when the server notices.
        await().atMost(DEADLINE)
                .until(() -> number("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                                + " AND backend_xid IS NOT NULL")
                        == 0);
        assertThat(number("SELECT count(*) FROM outbox_event")).isEqualTo(committed);
    }

    /**
     * A relay that sleeps through its lease wakes up as a zombie: what it does then must not undo its successor's work. One
     * that holds locks has no lease; the server ends its transaction after the time that a delivery may take.
     */
    @ParameterizedTest(name = "{0} relay sleeps through its lease")
    @ValueSource(strings = {"claim", "lease", "lock"})
    void relay_stoppedBeyondItsLease_isFenced(String mode) throws SQLException {
        OutboxChild.append(pool, topic, EVENTS, any -> {});
        Set<String> committed = committedIds();
        try (ChildJvm zombie = ChildJvm.of(OutboxChild.class)
                .arguments("relay", database.url(), mode, kafka.bootstrapServers())
                .crashAt(CrashPoint.holdAt("outbox.marking"))
                .start()) {
            zombie.awaitHeld(DEADLINE);
            zombie.stop();

            endLeasesOfTheDead();
            relayUntilNothingIsLeft(mode);
            int done = number("SELECT count(*) FROM outbox_event WHERE status = 'PUBLISHED'");

            zombie.resume();
            zombie.release();
            OutboxChild.append(pool, topic, EVENTS, any -> {});
            committed.addAll(committedIds());
            await().atMost(DEADLINE)
                    .until(() -> number("SELECT count(*) FROM outbox_event WHERE done_at IS NULL") == 0);
            assertThat(number("SELECT count(*) FROM outbox_event WHERE status = 'PUBLISHED'"))
                    .isEqualTo(done == 0 ? 0 : done + EVENTS);
        }

        List<ConsumerRecord<byte[], byte[]>> records = read();
        assertSameIdSameContent(records);
        assertThat(ids(records)).isEqualTo(committed);
    }

    @Test
    void relay_noCrash_sendsNothingTwice() throws SQLException {
        OutboxChild.append(pool, topic, EVENTS, any -> {});
        Set<String> committed = committedIds();

        relayUntilNothingIsLeft("lease");

        assertThat(read()).hasSize(EVENTS);
        assertThat(ids(read())).isEqualTo(committed);
    }

    /**
     * Makes the time pass that the leases of a process that is dead, or stopped, still have to run. In the full profile
     * it passes by itself, eight seconds for each case.
     */
    private void endLeasesOfTheDead() throws SQLException {
        if (System.getProperty("idempotency.profile", "ci").equals("full")) {
            return;
        }
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.executeUpdate("UPDATE outbox_lease SET expires_at = clock_timestamp()");
            statement.executeUpdate("UPDATE outbox_relay SET expires_at = clock_timestamp()");
            statement.executeUpdate("UPDATE outbox_event SET locked_until = clock_timestamp() WHERE done_at IS NULL");
        }
    }

    private void relayUntilNothingIsLeft(String mode) {
        try (OutboxPublisher publisher = OutboxChild.publisher(kafka.bootstrapServers());
                OutboxRelay relay = OutboxChild.relay(pool, mode, publisher, any -> {})) {
            relay.start();
            await().atMost(DEADLINE)
                    .until(() -> number("SELECT count(*) FROM outbox_event WHERE done_at IS NULL") == 0);
        }
    }

    private Set<String> committedIds() throws SQLException {
        Set<String> ids = new HashSet<>();
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT event_id FROM outbox_event")) {
            while (rows.next()) {
                ids.add(rows.getString(1));
            }
        }
        return ids;
    }

    private int number(String query) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            rows.next();
            return rows.getInt(1);
        }
    }

    private static void assertSameIdSameContent(List<ConsumerRecord<byte[], byte[]>> records) {
        Map<String, String> contents = new HashMap<>();
        for (ConsumerRecord<byte[], byte[]> sent : records) {
            String content = text(sent.key()) + "/" + text(sent.value());
            assertThat(contents.putIfAbsent(id(sent), content)).isIn(null, content);
        }
    }

    private static Set<String> ids(List<ConsumerRecord<byte[], byte[]>> records) {
        Set<String> ids = new HashSet<>();
        records.forEach(sent -> ids.add(id(sent)));
        return ids;
    }

    private static String id(ConsumerRecord<byte[], byte[]> sent) {
        return text(sent.headers().lastHeader("eventId").value());
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** Reads the topic from its beginning to its end of now. */
    private List<ConsumerRecord<byte[], byte[]>> read() {
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", kafka.bootstrapServers()),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = List.of(new TopicPartition(topic, 0), new TopicPartition(topic, 1));
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
            long deadline = System.nanoTime() + DEADLINE.toNanos();
            while (partitions.stream().anyMatch(each -> consumer.position(each) < ends.getOrDefault(each, 0L))) {
                assertThat(System.nanoTime()).as("deadline").isLessThan(deadline);
                consumer.poll(Duration.ofMillis(100)).forEach(records::add);
            }
            return records;
        }
    }
}
