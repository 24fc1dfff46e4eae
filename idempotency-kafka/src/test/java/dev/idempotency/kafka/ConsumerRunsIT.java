package dev.idempotency.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.event.Deduplication;
import dev.idempotency.event.RetryPolicy;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.testkit.process.ChildJvm;
import dev.idempotency.testkit.service.EmbeddedKafka;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The same records under every kind of trouble; the oracle reads the database. 100,000 records each in profile full. */
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class ConsumerRunsIT {
    private static EmbeddedKafka kafka;

    @BeforeAll
    static void startBroker() {
        kafka = EmbeddedKafka.start();
    }

    @AfterAll
    static void stopBroker() {
        kafka.close();
    }

    private static IdempotentConsumer<String, String> consumer(Runs run) {
        return consumer(run, Map.of());
    }

    private static IdempotentConsumer<String, String> consumer(Runs run, Map<String, String> more) {
        return run.bench
                .consumer(more)
                .retry(new RetryPolicy(1, Duration.ofMillis(20), Duration.ofMillis(200)))
                .handler(TransactionScope.PER_BATCH, (record, context) -> {
                    Bench.effect(record, context);
                    if (record.value().equals("bad")) {
                        throw new IllegalArgumentException("poison");
                    }
                })
                .build();
    }

    private static void stop(IdempotentConsumer<String, String> consumer) {
        assertThat(consumer.stop(Duration.ofSeconds(60)).drained()).isTrue();
        assertThat(consumer.failure()).isEmpty();
    }

    private static void nothing(int round) {}

    @Test
    void clean() throws Exception {
        try (Runs run = new Runs(kafka, "clean", 0, 0);
                IdempotentConsumer<String, String> consumer = consumer(run)) {
            consumer.start();
            run.send(1, Duration.ZERO, ConsumerRunsIT::nothing);
            run.awaitAll();
            stop(consumer);
            run.judge();
        }
    }

    @Test
    void tenPercentDuplicates() throws Exception {
        try (Runs run = new Runs(kafka, "10 % duplicates", 0.1, 0);
                IdempotentConsumer<String, String> consumer = consumer(run)) {
            consumer.start();
            run.send(2, Duration.ZERO, ConsumerRunsIT::nothing);
            run.awaitAll();
            stop(consumer);
            run.judge();
        }
    }

    /** The operator sets all offsets to the beginning: every record comes again, and none takes effect again. */
    @Test
    void wholeTopicReplayed() throws Exception {
        try (Runs run = new Runs(kafka, "whole topic replayed", 0, 0)) {
            try (IdempotentConsumer<String, String> consumer = consumer(run)) {
                consumer.start();
                run.send(1, Duration.ZERO, ConsumerRunsIT::nothing);
                run.awaitAll();
                stop(consumer);
            }
            Map<TopicPartition, OffsetAndMetadata> beginnings = new HashMap<>();
            for (int partition = 0; partition < Runs.PARTITIONS; partition++) {
                beginnings.put(new TopicPartition(run.bench.topic, partition), new OffsetAndMetadata(0));
            }
            kafka.admin()
                    .alterConsumerGroupOffsets(run.bench.topic, beginnings)
                    .all()
                    .get(60, TimeUnit.SECONDS);
            long effects = run.effects();
            try (IdempotentConsumer<String, String> consumer = consumer(run)) {
                consumer.start();
                Bench.await(
                        "the epoch of the replay", () -> run.number("SELECT min(epoch) FROM partition_offset") >= 2);
                run.awaitAll();
                stop(consumer);
            }
            assertThat(run.effects()).isEqualTo(effects);
            run.judge();
        }
    }

    @Test
    void onePoisonRecordPerThousand() throws Exception {
        try (Runs run = new Runs(kafka, "one poison record per thousand", 0, 1_000);
                IdempotentConsumer<String, String> consumer = consumer(run)) {
            consumer.start();
            run.send(1, Duration.ZERO, ConsumerRunsIT::nothing);
            run.awaitAll();
            stop(consumer);
            run.judge();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    void rebalanceEveryTwoSeconds(String protocol) throws Exception {
        Map<String, String> properties = Map.of("group.protocol", protocol, "max.poll.records", "100");
        try (Runs run = new Runs(kafka, "rebalances, protocol " + protocol, 0.02, 0);
                IdempotentConsumer<String, String> stays = consumer(run, properties)) {
            stays.start();
            AtomicReference<@Nullable IdempotentConsumer<String, String>> comesAndGoes = new AtomicReference<>();
            run.send(6, Duration.ofSeconds(2), round -> {
                long before = epochs(run);
                IdempotentConsumer<String, String> present = comesAndGoes.getAndSet(null);
                if (present == null) {
                    IdempotentConsumer<String, String> second = consumer(run, properties);
                    second.start();
                    comesAndGoes.set(second);
                } else {
                    present.close();
                }
                Bench.await("partitions to change hands", () -> epochs(run) > before);
            });
            run.awaitAll();
            IdempotentConsumer<String, String> left = comesAndGoes.get();
            if (left != null) {
                left.close();
            }
            stop(stays);
            run.judge();
        }
    }

    private static long epochs(Runs run) {
        return run.number("SELECT coalesce(sum(epoch), 0) FROM partition_offset");
    }

    @Test
    void sigkillEveryFiveSeconds() throws Exception {
        try (Runs run = new Runs(kafka, "SIGKILL", 0.02, 0)) {
            ChildJvm[] child = {child(run)};
            run.send(3, Duration.ofSeconds(5), round -> {
                child[0].kill();
                child[0] = child(run);
            });
            run.awaitAll();
            child[0].kill();
            run.judge();
        }
    }

    private static ChildJvm child(Runs run) {
        return ChildJvm.of(ConsumerMain.class)
                .arguments(
                        run.bench.database.url(),
                        kafka.bootstrapServers(),
                        run.bench.topic,
                        TransactionScope.PER_BATCH,
                        Deduplication.EVENT_ID_AND_OFFSET,
                        "max.poll.records=100")
                .start();
    }

    @Test
    void sessionsOfTheDatabaseEndedEverySecond() throws Exception {
        try (Runs run = new Runs(kafka, "sessions of PostgreSQL ended", 0.02, 0);
                IdempotentConsumer<String, String> consumer = consumer(run, Map.of("max.poll.records", "100"))) {
            consumer.start();
            run.send(8, Duration.ofSeconds(1), round -> endSessions(run));
            run.awaitAll();
            stop(consumer);
            run.judge();
        }
    }

    private static void endSessions(Runs run) throws SQLException {
        try (Connection connection = run.bench.database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                            + " AND pid <> pg_backend_pid()");
        }
    }

    @Test
    void brokerRestarted() throws Exception {
        try (EmbeddedKafka own = EmbeddedKafka.start();
                Runs run = new Runs(own, "broker restarted", 0.02, 0);
                IdempotentConsumer<String, String> consumer = consumer(run)) {
            consumer.start();
            int broker = own.brokers().iterator().next();
            run.send(2, Duration.ofSeconds(5), round -> {
                if (round % 5 == 0) {
                    own.stopBroker(broker);
                    own.startBroker(broker);
                }
            });
            run.awaitAll();
            stop(consumer);
            run.judge();
        }
    }

    /** Each broker of three is lost in turn, with the leaders and coordinators it had, and comes back. */
    @Test
    @EnabledIfSystemProperty(named = "idempotency.profile", matches = "full")
    void brokersOfThreeLostInTurn() throws Exception {
        try (EmbeddedKafka three = EmbeddedKafka.start(3, Map.of());
                Runs run = new Runs(three, "brokers of three lost", 0.02, 0);
                IdempotentConsumer<String, String> consumer = consumer(run)) {
            consumer.start();
            Integer[] brokers = three.brokers().toArray(Integer[]::new);
            run.send(6, Duration.ofSeconds(2), round -> {
                int broker = brokers[round / 2 % brokers.length];
                if (round % 2 == 0) {
                    three.stopBroker(broker);
                } else {
                    three.startBroker(broker);
                }
            });
            run.awaitAll();
            stop(consumer);
            run.judge();
        }
    }
}
