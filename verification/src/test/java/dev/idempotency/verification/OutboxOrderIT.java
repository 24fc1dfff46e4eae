package dev.idempotency.verification;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.OutboxEvent;
import dev.idempotency.jdbi.JdbiOutboxStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.jdbi.SchemaInstaller;
import dev.idempotency.outbox.Outbox;
import dev.idempotency.testkit.process.ChildJvm;
import dev.idempotency.testkit.service.EmbeddedKafka;
import dev.idempotency.testkit.service.EmbeddedPostgreSql;
import dev.idempotency.testkit.service.PostgreSqlDatabase;
import dev.idempotency.transaction.TransactionLimits;
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
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.Test;

/**
 * Three relays share the keys while one of them after the other is killed at a random moment and started again: of each key
 * the events appear first in the order in which they were appended, and none is missing.
 */
class OutboxOrderIT {
    private static final boolean FULL =
            System.getProperty("idempotency.profile", "ci").equals("full");
    private static final Duration DEADLINE = Duration.ofMinutes(5);
    private static final int RELAYS = 3;
    private static final int PARTITIONS = 4;
    private static final String TOPIC = "orders";

    @Test
    void threeRelays_killedAtRandom_keepTheOrderOfEveryKey() throws Exception {
        int keys = FULL ? 1_000 : 200;
        int kills = FULL ? 15 : 2;
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Set<String> ids = ConcurrentHashMap.newKeySet();
        AtomicBoolean writing = new AtomicBoolean(true);
        List<ConsumerRecord<byte[], byte[]>> records;
        try (EmbeddedKafka kafka = EmbeddedKafka.start();
                PostgreSqlDatabase database = EmbeddedPostgreSql.shared().createDatabase();
                HikariDataSource pool = OutboxChild.pool(database.url())) {
            SchemaInstaller.of(pool).install();
            kafka.createTopic(TOPIC, PARTITIONS);
            Thread writer = new Thread(() -> write(pool, keys, ids, writing));
            writer.start();
            List<ChildJvm> relays = new ArrayList<>();
            try {
                for (int relay = 0; relay < RELAYS; relay++) {
                    relays.add(start(database, kafka));
                }
                awaitHolders(pool, RELAYS);
                for (int kill = 0; kill < kills; kill++) {
                    long before = ended(kafka);
                    long more = random.nextInt(1_000);
                    await().atMost(DEADLINE).until(() -> ended(kafka) > before + more);
                    ChildJvm victim = relays.remove(random.nextInt(RELAYS));
                    victim.kill();
                    victim.close();
                    relays.add(start(database, kafka));
                    awaitHolders(pool, RELAYS);
                }
                writing.set(false);
                writer.join(DEADLINE.toMillis());
                await().atMost(DEADLINE)
                        .until(() -> number(pool, "SELECT count(*) FROM outbox_event WHERE done_at IS NULL") == 0);
            } finally {
                writing.set(false);
                relays.forEach(ChildJvm::close);
            }
            records = read(kafka);
        }
        assertThat(inversions(records)).as("inversions, seed " + seed).isEmpty();
        Set<String> arrived = new HashSet<>();
        records.forEach(sent -> arrived.add(id(sent)));
        assertThat(arrived).as("seed " + seed).isEqualTo(ids);
    }

    /** The checker itself is seen to find what it looks for. */
    @Test
    void checker_findsAnInversion_andPassesOverARepetition() {
        List<ConsumerRecord<byte[], byte[]>> records =
                List.of(made("a", 1), made("b", 1), made("a", 2), made("a", 1), made("b", 3), made("b", 2));

        assertThat(inversions(records)).containsExactly("b: 2 after 3");
    }

    private static ConsumerRecord<byte[], byte[]> made(String key, int number) {
        ConsumerRecord<byte[], byte[]> sent = new ConsumerRecord<>(
                TOPIC,
                0,
                0,
                key.getBytes(StandardCharsets.UTF_8),
                Integer.toString(number).getBytes(StandardCharsets.UTF_8));
        sent.headers().add("eventId", (key + number).getBytes(StandardCharsets.UTF_8));
        return sent;
    }

    private static ChildJvm start(PostgreSqlDatabase database, EmbeddedKafka kafka) {
        return ChildJvm.of(OutboxChild.class)
                .arguments("relay", database.url(), "lease", kafka.bootstrapServers())
                .start();
    }

    private static void awaitHolders(HikariDataSource pool, int relays) {
        await().atMost(DEADLINE)
                .until(() -> number(
                                pool,
                                "SELECT count(DISTINCT owner) FROM outbox_lease"
                                        + " WHERE expires_at > clock_timestamp() AND owner IS NOT NULL")
                        == relays);
    }

    /** One event of every key per transaction; the number counts within the key. */
    private static void write(HikariDataSource pool, int keys, Set<String> ids, AtomicBoolean writing) {
        Outbox outbox = Outbox.of(JdbiOutboxStore.of(pool));
        JdbiTransactionRunner runner = JdbiTransactionRunner.of(pool);
        for (int number = 0; writing.get(); number++) {
            List<OutboxEvent> batch = new ArrayList<>();
            for (int key = 0; key < keys; key++) {
                batch.add(OutboxEvent.to(TOPIC)
                        .key("key-" + key)
                        .payload(Integer.toString(number))
                        .build());
            }
            List<UUID> appended =
                    runner.run(TransactionLimits.ofDefaults(), transaction -> outbox.appendAll(transaction, batch));
            appended.forEach(id -> ids.add(id.toString()));
        }
    }

    private static List<String> inversions(List<ConsumerRecord<byte[], byte[]>> records) {
        List<String> inversions = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        Map<String, Integer> last = new HashMap<>();
        for (ConsumerRecord<byte[], byte[]> sent : records) {
            if (!seen.add(id(sent))) {
                continue;
            }
            String key = text(sent.key());
            int number = Integer.parseInt(text(sent.value()));
            Integer before = last.put(key, number);
            if (before != null && number <= before) {
                inversions.add(key + ": " + number + " after " + before);
            }
        }
        return inversions;
    }

    private static List<TopicPartition> partitions() {
        return IntStream.range(0, PARTITIONS)
                .mapToObj(partition -> new TopicPartition(TOPIC, partition))
                .toList();
    }

    private static KafkaConsumer<byte[], byte[]> consumer(EmbeddedKafka kafka) {
        return new KafkaConsumer<>(
                Map.of("bootstrap.servers", kafka.bootstrapServers()),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
    }

    private static long ended(EmbeddedKafka kafka) {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(kafka)) {
            return consumer.endOffsets(partitions()).values().stream()
                    .mapToLong(Long::longValue)
                    .sum();
        }
    }

    private static List<ConsumerRecord<byte[], byte[]>> read(EmbeddedKafka kafka) {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(kafka)) {
            consumer.assign(partitions());
            consumer.seekToBeginning(partitions());
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions());
            List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
            long deadline = System.nanoTime() + DEADLINE.toNanos();
            while (partitions().stream().anyMatch(each -> consumer.position(each) < ends.getOrDefault(each, 0L))) {
                assertThat(System.nanoTime()).as("deadline").isLessThan(deadline);
                consumer.poll(Duration.ofMillis(100)).forEach(records::add);
            }
            return records;
        }
    }

    private static int number(HikariDataSource pool, String query) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            rows.next();
            return rows.getInt(1);
        }
    }

    private static String id(ConsumerRecord<byte[], byte[]> sent) {
        return text(sent.headers().lastHeader("eventId").value());
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
