package dev.idempotency.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.OutboxEvent;
import dev.idempotency.jdbi.JdbiOutboxStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.jdbi.SchemaInstaller;
import dev.idempotency.outbox.Ordering;
import dev.idempotency.outbox.Outbox;
import dev.idempotency.outbox.OutboxRelay;
import dev.idempotency.outbox.RelayHealth;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** From the append in a transaction to the record in Kafka, on the real parts. */
class OutboxToKafkaIT {
    private static EmbeddedKafka kafka;

    private PostgreSqlDatabase database;
    private HikariDataSource dataSource;
    private JdbiTransactionRunner runner;
    private JdbiOutboxStore store;
    private KafkaOutboxPublisher publisher;

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
        dataSource = new HikariDataSource();
        dataSource.setJdbcUrl(database.url());
        dataSource.setMaximumPoolSize(10);
        SchemaInstaller.of(dataSource).install();
        runner = JdbiTransactionRunner.of(dataSource);
        store = JdbiOutboxStore.of(dataSource);
        publisher = KafkaOutboxPublisher.of(Map.of("bootstrap.servers", kafka.bootstrapServers()), "orders-db");
    }

    @AfterEach
    void close() {
        publisher.close();
        dataSource.close();
        database.close();
    }

    @Test
    void relay_leasing_bringsEveryEventOnceAndInOrder() throws SQLException {
        kafka.createTopic("leased", 4);
        try (OutboxRelay relay =
                OutboxRelay.leasing(store, publisher).ordering(Ordering.KEY).build()) {
            relay.start();
            Outbox outbox = Outbox.builder(store).afterCommit(relay::nudge).build();

            append(outbox, "leased", 500);

            expectOnceAndInOrder("leased", 500);
            awaitRows("SELECT count(*) FROM outbox_event", 0);
            assertThat(relay.health().status()).isEqualTo(RelayHealth.Status.UP);
        }
    }

    @Test
    void relay_claiming_bringsEveryEventOnceAndKeepsTheRows() throws SQLException {
        kafka.createTopic("claimed", 4);
        try (OutboxRelay relay = OutboxRelay.claiming(store, publisher).build()) {
            relay.start();
            Outbox outbox = Outbox.builder(store).afterCommit(relay::nudge).build();

            append(outbox, "claimed", 500);

            assertThat(counts(KafkaRecords.read(kafka, "claimed", 500)))
                    .hasSize(500)
                    .containsValue(1);
            awaitRows("SELECT count(*) FROM outbox_event WHERE status = 'PUBLISHED' AND published_at IS NOT NULL", 500);
        }
    }

    /** The large one is found out before it is batched with the others, which it would make fail (KAFKA-8350). */
    @Test
    void largeEventAmongSmallOnes_itAloneIsGivenUp() throws SQLException {
        kafka.createTopic("mixed", 1);
        Outbox outbox = Outbox.builder(store).largestEventBytes(4_000_000).build();
        runner.run(TransactionLimits.ofDefaults(), transaction -> {
            List<OutboxEvent> events = new ArrayList<>();
            for (int i = 0; i < 41; i++) {
                events.add(OutboxEvent.to("mixed")
                        .key("key-" + i)
                        .payload(new byte[i == 20 ? 2_000_000 : 100])
                        .build());
            }
            return outbox.appendAll(transaction, events);
        });
        try (OutboxRelay relay = OutboxRelay.leasing(store, publisher)
                .retry(new RetryPolicy(2, Duration.ofMillis(10), Duration.ofMillis(10)))
                .build()) {
            relay.start();

            awaitRows("SELECT count(*) FROM outbox_event WHERE done_at IS NULL", 0);
            awaitRows("SELECT count(*) FROM outbox_event WHERE status = 'DEAD' AND attempts = 2", 1);
            assertThat(counts(KafkaRecords.read(kafka, "mixed", 40)))
                    .hasSize(40)
                    .containsValue(1);
            assertThat(relay.statistics().recordFailures()).isEqualTo(2);
            assertThat(relay.statistics().brokerFailures()).isZero();
        }
    }

    /** A topic that is not there is no fault of its events: they wait until it is. */
    @Test
    void unknownTopic_eventsWaitUntilItIsThere_andOthersGoOn() throws Exception {
        kafka.createTopic("known", 1);
        try (KafkaOutboxPublisher hasty = KafkaOutboxPublisher.of(Map.of(
                        "bootstrap.servers",
                        kafka.bootstrapServers(),
                        "max.block.ms",
                        500L,
                        "metadata.max.age.ms",
                        500));
                OutboxRelay relay = OutboxRelay.leasing(store, hasty).build()) {
            relay.start();
            append(Outbox.of(store), "unknown-yet", 5);
            append(Outbox.of(store), "known", 5);

            awaitRows("SELECT count(*) FROM outbox_event WHERE topic = 'known'", 0);
            assertThat(relay.health().failingTopics()).contains("unknown-yet");
            awaitRows("SELECT count(*) FROM outbox_event WHERE attempts = 0 AND status = 'PENDING'", 5);

            kafka.createTopic("unknown-yet", 1);
            awaitRows("SELECT count(*) FROM outbox_event", 0);
            assertThat(relay.statistics().dead()).isZero();
        }
    }

    @Test
    void record_carriesIdSourceSequenceTypeTenantAndOwnHeaders() {
        kafka.createTopic("headers", 1);
        UUID id = UUID.fromString("0190aa00-0000-7000-8000-000000000001");
        try (OutboxRelay relay = OutboxRelay.leasing(store, publisher).build()) {
            relay.start();
            runner.run(
                    TransactionLimits.ofDefaults(),
                    transaction -> Outbox.of(store)
                            .append(
                                    transaction,
                                    OutboxEvent.to("headers")
                                            .eventId(id)
                                            .key("schlüssel")
                                            .type("OrderPlaced")
                                            .tenant("acme")
                                            .header("trace", "a\tb\nc\\d\0e ä€😀")
                                            .payload("{}")
                                            .build()));

            ConsumerRecord<byte[], byte[]> sent =
                    KafkaRecords.read(kafka, "headers", 1).get(0);

            Map<String, String> headers = new HashMap<>();
            sent.headers().forEach(header -> headers.put(header.key(), text(header.value())));
            assertThat(headers)
                    .containsEntry("eventId", id.toString())
                    .containsEntry("eventType", "OrderPlaced")
                    .containsEntry("tenantId", "acme")
                    .containsEntry("outboxSource", "orders-db")
                    .containsEntry("outboxSequence", "1")
                    .containsEntry("trace", "a\tb\nc\\d\0e ä€😀")
                    .hasSize(6);
            assertThat(text(sent.key())).isEqualTo("schlüssel");
            assertThat(text(sent.value())).isEqualTo("{}");
        }
    }

    private void append(Outbox outbox, String topic, int events) {
        for (int i = 0; i < events; i += 5) {
            int first = i;
            runner.run(TransactionLimits.ofDefaults(), transaction -> {
                List<OutboxEvent> batch = new ArrayList<>();
                for (int number = first; number < first + 5; number++) {
                    batch.add(OutboxEvent.to(topic)
                            .key("key-" + number % 7)
                            .payload(Integer.toString(number))
                            .build());
                }
                return outbox.appendAll(transaction, batch);
            });
        }
    }

    private static void expectOnceAndInOrder(String topic, int events) {
        List<ConsumerRecord<byte[], byte[]>> records = KafkaRecords.read(kafka, topic, events);
        assertThat(counts(records)).hasSize(events).containsValue(1);
        Map<String, Integer> last = new HashMap<>();
        for (ConsumerRecord<byte[], byte[]> sent : records) {
            int number = Integer.parseInt(text(sent.value()));
            assertThat(last.getOrDefault(text(sent.key()), -1)).isLessThan(number);
            last.put(text(sent.key()), number);
        }
    }

    private static Map<String, Integer> counts(List<ConsumerRecord<byte[], byte[]>> records) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        for (ConsumerRecord<byte[], byte[]> sent : records) {
            counts.merge(text(sent.headers().lastHeader("eventId").value()), 1, Integer::sum);
        }
        return counts;
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private void awaitRows(String count, int expected) throws SQLException {
        org.awaitility.Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> number(count) == expected);
    }

    private int number(String query) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            rows.next();
            return rows.getInt(1);
        }
    }
}
