package dev.idempotency.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.OutboxEvent;
import dev.idempotency.jdbi.JdbiOutboxStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.jdbi.SchemaInstaller;
import dev.idempotency.outbox.Outbox;
import dev.idempotency.outbox.OutboxRelay;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.PublishOutcome;
import dev.idempotency.spi.PublishOutcome.Kind;
import dev.idempotency.testkit.service.EmbeddedKafka;
import dev.idempotency.testkit.service.EmbeddedPostgreSql;
import dev.idempotency.testkit.service.PostgreSqlDatabase;
import dev.idempotency.transaction.TransactionLimits;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Kafka refuses who has lost a range, and shows nothing of a transaction that failed. */
class TransactionalPublisherIT {
    private static final Duration DEADLINE = Duration.ofSeconds(60);

    private static EmbeddedKafka kafka;

    @BeforeAll
    static void startKafka() {
        kafka = EmbeddedKafka.start();
    }

    @AfterAll
    static void stopKafka() {
        kafka.close();
    }

    private static KafkaTransactionalOutboxPublisher publisher(String outbox) {
        return KafkaTransactionalOutboxPublisher.of(Map.of("bootstrap.servers", kafka.bootstrapServers()), outbox);
    }

    private static OutboxRow row(long sequence, String topic, byte[] payload) {
        OutboxEvent event = OutboxEvent.to(topic)
                .eventId(new UUID(7, sequence))
                .key("key")
                .payload(payload)
                .build();
        return new OutboxRow(sequence, event, 0, 0, Duration.ZERO, Instant.EPOCH);
    }

    private static OutboxRow row(long sequence, String topic) {
        return row(sequence, topic, Long.toString(sequence).getBytes(StandardCharsets.UTF_8));
    }

    private static CompletableFuture<PublishOutcome> publish(
            KafkaTransactionalOutboxPublisher publisher, OutboxRow row) {
        CompletableFuture<PublishOutcome> answer = new CompletableFuture<>();
        publisher.publish(row, (same, outcome) -> answer.complete(outcome));
        return answer;
    }

    private static Kind kind(CompletableFuture<PublishOutcome> answer) {
        await().atMost(DEADLINE).until(answer::isDone);
        return ((PublishOutcome.Failed) answer.join()).kind();
    }

    private static void assertPublished(CompletableFuture<PublishOutcome> answer) {
        await().atMost(DEADLINE).until(answer::isDone);
        assertThat(answer.join()).isInstanceOf(PublishOutcome.Published.class);
    }

    @Test
    void rangeTakenOver_itsFormerHolderIsRefused_andNothingOfItArrives() {
        kafka.createTopic("zombie", 1);
        try (KafkaTransactionalOutboxPublisher zombie = publisher("zombie");
                KafkaTransactionalOutboxPublisher successor = publisher("zombie")) {
            zombie.takeOver(0);
            assertPublished(publish(zombie, row(1, "zombie")));

            successor.takeOver(0);
            assertThat(kind(publish(zombie, row(2, "zombie")))).isEqualTo(Kind.FATAL);
            assertThat(kind(publish(zombie, row(3, "zombie")))).isEqualTo(Kind.FATAL);
            assertPublished(publish(successor, row(2, "zombie")));
        }
        assertThat(values("zombie")).containsExactly("1", "2");
    }

    @Test
    void rangeThatWasNotTakenOver_isRefused() {
        try (KafkaTransactionalOutboxPublisher publisher = publisher("not-mine")) {
            assertThat(kind(publish(publisher, row(1, "zombie")))).isEqualTo(Kind.FATAL);
            publisher.takeOver(0);
            publisher.leave(0);
            assertThat(kind(publish(publisher, row(1, "zombie")))).isEqualTo(Kind.FATAL);
        }
    }

    @Test
    void oneOfABatchIsTooLarge_itAloneCounts_andNothingBehindItArrivesBefore() {
        kafka.createTopic("large", 1);
        try (KafkaTransactionalOutboxPublisher publisher = publisher("large")) {
            publisher.takeOver(0);
            List<CompletableFuture<PublishOutcome>> answers = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                answers.add(publish(publisher, i == 2 ? row(i, "large", new byte[2_000_000]) : row(i, "large")));
            }

            assertPublished(answers.get(0));
            assertPublished(answers.get(1));
            assertThat(kind(answers.get(2))).isEqualTo(Kind.RECORD);
            assertThat(kind(answers.get(3))).isEqualTo(Kind.FATAL);
            assertThat(kind(answers.get(4))).isEqualTo(Kind.FATAL);
            publisher.takeOver(0);
            assertPublished(publish(publisher, row(3, "large")));
        }
        assertThat(values("large")).containsExactly("0", "1", "3");
    }

    @Test
    void relayWithRanges_bringsEveryEventOnceAndInOrder_alsoAfterItWasFenced() {
        kafka.createTopic("relayed", 3);
        try (PostgreSqlDatabase database = EmbeddedPostgreSql.shared().createDatabase();
                HikariDataSource pool = new HikariDataSource()) {
            pool.setJdbcUrl(database.url());
            SchemaInstaller.of(pool).install();
            JdbiOutboxStore store = JdbiOutboxStore.of(pool);
            try (KafkaTransactionalOutboxPublisher publisher = publisher("relayed");
                    OutboxRelay relay = OutboxRelay.leasing(store, publisher)
                            .lease(Duration.ofSeconds(40))
                            .build()) {
                relay.start();
                append(pool, store, 0);
                await().atMost(DEADLINE).until(() -> values("relayed").size() == 200);

                // Somebody who believes to hold the ranges, as this relay after a pause would, fences it: it comes
                // back.
                try (KafkaTransactionalOutboxPublisher other = publisher("relayed")) {
                    for (int slot = 0; slot < 16; slot++) {
                        other.takeOver(slot);
                    }
                }
                append(pool, store, 200);

                await().atMost(DEADLINE).until(() -> values("relayed").size() == 400);
                assertThat(relay.statistics().dead()).isZero();
            }
            for (int key = 0; key < 10; key++) {
                int own = key;
                assertThat(values("relayed").stream().map(Integer::valueOf).filter(value -> value % 10 == own))
                        .hasSize(40)
                        .isSorted();
            }
        }
    }

    private static void append(HikariDataSource pool, JdbiOutboxStore store, int from) {
        JdbiTransactionRunner.of(pool).run(TransactionLimits.ofDefaults(), transaction -> {
            List<OutboxEvent> events = new ArrayList<>();
            for (int i = from; i < from + 200; i++) {
                events.add(OutboxEvent.to("relayed")
                        .key("key-" + i % 10)
                        .payload(Integer.toString(i))
                        .build());
            }
            return Outbox.of(store).appendAll(transaction, events);
        });
    }

    @Test
    void combinationsThatCannotHold_areRefused() {
        Map<String, Object> own = Map.of("bootstrap.servers", kafka.bootstrapServers(), "transactional.id", "mine");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> KafkaTransactionalOutboxPublisher.of(own, "orders"))
                .withMessageContaining("transactional.id");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> KafkaOutboxPublisher.of(own))
                .withMessageContaining("KafkaTransactionalOutboxPublisher");
        try (PostgreSqlDatabase database = EmbeddedPostgreSql.shared().createDatabase();
                HikariDataSource pool = new HikariDataSource();
                KafkaTransactionalOutboxPublisher publisher = publisher("refused")) {
            pool.setJdbcUrl(database.url());
            SchemaInstaller.of(pool).install();
            JdbiOutboxStore store = JdbiOutboxStore.of(pool);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> OutboxRelay.claiming(store, publisher).build())
                    .withMessageContaining("OutboxRelay.leasing");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> OutboxRelay.locking(store, JdbiTransactionRunner.of(pool), publisher)
                            .build())
                    .withMessageContaining("OutboxRelay.leasing");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> OutboxRelay.leasing(store, publisher)
                            .lease(Duration.ofSeconds(20))
                            .build())
                    .withMessageContaining("lease");
        }
    }

    /** What a consumer with read_committed sees, in the order of each partition. */
    private static List<String> values(String topic) {
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", kafka.bootstrapServers(), "isolation.level", "read_committed"),
                new StringDeserializer(),
                new StringDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
                    .map(partition -> new TopicPartition(topic, partition.partition()))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            List<String> values = new ArrayList<>();
            while (partitions.stream().anyMatch(each -> consumer.position(each) < ends.getOrDefault(each, 0L))) {
                for (ConsumerRecord<String, String> next : consumer.poll(Duration.ofMillis(100))) {
                    values.add(next.value());
                }
            }
            return values;
        }
    }
}
