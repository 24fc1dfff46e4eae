package dev.idempotency.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.OutboxEvent;
import dev.idempotency.jdbi.JdbiOutboxStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.jdbi.SchemaInstaller;
import dev.idempotency.outbox.Outbox;
import dev.idempotency.outbox.OutboxRelay;
import dev.idempotency.outbox.RetryPolicy;
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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A broker that refuses a batch. Kafka's client calls the bad records of it invalid, whatever was wrong with them, and says
 * of the good ones that they were with bad ones.
 */
@Timeout(180)
class RefusedBatchIT {
    private static final Duration DEADLINE = Duration.ofSeconds(60);
    private static final String TOPIC = "strict";
    private static final int EVENTS = 20;
    /** The clocks of a test are the same, so the topic is made to refuse what is not from the present millisecond. */
    private static final String OLDEST = "message.timestamp.before.max.ms";

    /** As it does when the sender's clock is far ahead of the broker's. */
    @Test
    void brokerRefusesTheTime_noEventIsGivenUpAndAllArriveOnceItIsAccepted() throws Exception {
        try (EmbeddedKafka kafka = EmbeddedKafka.start();
                PostgreSqlDatabase database = EmbeddedPostgreSql.shared().createDatabase();
                HikariDataSource dataSource = new HikariDataSource()) {
            kafka.createTopic(TOPIC, 1, Map.of(OLDEST, "0"));
            dataSource.setJdbcUrl(database.url());
            SchemaInstaller.of(dataSource).install();
            JdbiOutboxStore store = JdbiOutboxStore.of(dataSource);
            try (KafkaOutboxPublisher publisher = KafkaOutboxPublisher.of(
                            Map.of("bootstrap.servers", kafka.bootstrapServers(), "linger.ms", "20"));
                    OutboxRelay relay = OutboxRelay.claiming(store, publisher)
                            .poll(Duration.ofMillis(5), Duration.ofMillis(20))
                            .retry(new RetryPolicy(2, Duration.ofMillis(10), Duration.ofMillis(20)))
                            .build()) {
                append(dataSource, store, EVENTS, number -> Optional.empty());
                relay.start();
                await().atMost(DEADLINE)
                        .until(() -> count(dataSource, "status = 'DEAD'") > 0
                                || relay.health().failingTopics().contains(TOPIC));
                assertThat(count(dataSource, "status = 'DEAD'")).isZero();

                ConfigEntry any = new ConfigEntry(OLDEST, null);
                kafka.admin()
                        .incrementalAlterConfigs(Map.of(
                                new ConfigResource(ConfigResource.Type.TOPIC, TOPIC),
                                List.of(new AlterConfigOp(any, AlterConfigOp.OpType.DELETE))))
                        .all()
                        .get(DEADLINE.toSeconds(), TimeUnit.SECONDS);

                await().atMost(DEADLINE).until(() -> count(dataSource, "status = 'PUBLISHED'") == EVENTS);
                assertThat(count(dataSource, "status = 'DEAD' OR attempts > 0")).isZero();
            }
            assertThat(KafkaRecords.read(kafka, TOPIC, EVENTS)).hasSize(EVENTS);
        }
    }

    /** A compacted topic takes no record without a key. */
    @Test
    void someOfABatchAreRefused_onlyTheyAreGivenUp_andTheOthersHaveNoAttemptLess() throws Exception {
        try (EmbeddedKafka kafka = EmbeddedKafka.start();
                PostgreSqlDatabase database = EmbeddedPostgreSql.shared().createDatabase();
                HikariDataSource dataSource = new HikariDataSource()) {
            kafka.createTopic(TOPIC, 1, Map.of("cleanup.policy", "compact"));
            dataSource.setJdbcUrl(database.url());
            SchemaInstaller.of(dataSource).install();
            JdbiOutboxStore store = JdbiOutboxStore.of(dataSource);
            append(
                    dataSource,
                    store,
                    EVENTS,
                    number -> number % 5 == 3 ? Optional.empty() : Optional.of("key " + number));
            try (KafkaOutboxPublisher publisher = KafkaOutboxPublisher.of(
                            Map.of("bootstrap.servers", kafka.bootstrapServers(), "linger.ms", "20"));
                    OutboxRelay relay = OutboxRelay.claiming(store, publisher)
                            .poll(Duration.ofMillis(5), Duration.ofMillis(20))
                            .retry(new RetryPolicy(2, Duration.ofMillis(10), Duration.ofMillis(20)))
                            .build()) {
                relay.start();
                await().atMost(DEADLINE).until(() -> count(dataSource, "done_at IS NOT NULL") == EVENTS);
            }
            assertThat(count(dataSource, "status = 'DEAD' AND msg_key IS NULL AND attempts = 2"))
                    .isEqualTo(4);
            assertThat(count(dataSource, "status = 'PUBLISHED' AND msg_key IS NOT NULL AND attempts = 0"))
                    .isEqualTo(EVENTS - 4);
        }
    }

    /**
     * A batch that fails takes good events of other keys with it, and the producer would let the batches behind go on: each
     * key must appear in its order all the same.
     */
    @Test
    void batchesFailWithOthersBehindThem_orderOfEachKeyIsKept() throws Exception {
        int events = 400;
        try (EmbeddedKafka kafka = EmbeddedKafka.start();
                PostgreSqlDatabase database = EmbeddedPostgreSql.shared().createDatabase();
                HikariDataSource dataSource = new HikariDataSource()) {
            kafka.createTopic(TOPIC, 1, Map.of("cleanup.policy", "compact"));
            dataSource.setJdbcUrl(database.url());
            SchemaInstaller.of(dataSource).install();
            JdbiOutboxStore store = JdbiOutboxStore.of(dataSource);
            append(
                    dataSource,
                    store,
                    events,
                    number -> number % 100 == 50 ? Optional.empty() : Optional.of("key " + number % 7));
            try (KafkaOutboxPublisher publisher = KafkaOutboxPublisher.of(
                            Map.of("bootstrap.servers", kafka.bootstrapServers(), "batch.size", "1000"));
                    OutboxRelay relay = OutboxRelay.leasing(store, publisher)
                            .poll(Duration.ofMillis(5), Duration.ofMillis(20))
                            .retry(new RetryPolicy(2, Duration.ofMillis(10), Duration.ofMillis(20)))
                            .build()) {
                relay.start();
                await().atMost(DEADLINE).until(() -> count(dataSource, "done_at IS NULL") == 0);
            }
            assertThat(count(dataSource, "status = 'DEAD'")).isEqualTo(4);
            Map<String, List<Integer>> firstAppearances = new HashMap<>();
            for (ConsumerRecord<byte[], byte[]> record : KafkaRecords.read(kafka, TOPIC, events - 4)) {
                int number = Integer.parseInt(
                        new String(record.value(), StandardCharsets.UTF_8).substring("event ".length()));
                List<Integer> ofKey = firstAppearances.computeIfAbsent(
                        new String(record.key(), StandardCharsets.UTF_8), key -> new ArrayList<>());
                if (!ofKey.contains(number)) {
                    ofKey.add(number);
                }
            }
            assertThat(firstAppearances).hasSize(7);
            assertThat(firstAppearances.values())
                    .allSatisfy(numbers -> assertThat(numbers).isSorted());
            assertThat(firstAppearances.values().stream().mapToInt(List::size).sum())
                    .isEqualTo(events - 4);
        }
    }

    private static void append(
            HikariDataSource dataSource, JdbiOutboxStore store, int number, IntFunction<Optional<String>> keys) {
        List<OutboxEvent> events = IntStream.range(0, number)
                .mapToObj(each -> {
                    OutboxEvent.Builder event = OutboxEvent.to(TOPIC).payload("event " + each);
                    keys.apply(each).ifPresent(event::key);
                    return event.build();
                })
                .toList();
        JdbiTransactionRunner.of(dataSource)
                .run(
                        TransactionLimits.ofDefaults(),
                        transaction -> Outbox.of(store).appendAll(transaction, events));
    }

    private static int count(HikariDataSource dataSource, String condition) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT count(*) FROM outbox_event WHERE " + condition)) {
            rows.next();
            return rows.getInt(1);
        }
    }
}
