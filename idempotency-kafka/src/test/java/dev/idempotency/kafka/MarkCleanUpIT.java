package dev.idempotency.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.event.MarkCleanUp;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.jdbi.JdbiEventStore;
import dev.idempotency.jdbi.MarkPartitions;
import dev.idempotency.testkit.service.EmbeddedKafka;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Marks go when no record can come again, and not before, whatever age is configured. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class MarkCleanUpIT {
    private static EmbeddedKafka kafka;
    private Bench bench;

    @BeforeAll
    static void startBroker() {
        kafka = EmbeddedKafka.start();
    }

    @AfterAll
    static void stopBroker() {
        kafka.close();
    }

    @BeforeEach
    void prepare() {
        bench = new Bench(kafka, 1);
    }

    @AfterEach
    void tidy() {
        bench.close();
    }

    private void passTime(Duration duration) {
        bench.update(
                "UPDATE processed_event SET marked_at = marked_at - interval '" + duration.toSeconds() + " seconds'");
    }

    private long marks() {
        return bench.number("SELECT count(*) FROM processed_event");
    }

    @Test
    void runOnce_ageShorterThanTheTopicKeepsRecords_keepsTheMarksThatLong() {
        String topic = bench.topic + "-kept";
        kafka.createTopic(topic, 1, Map.of("retention.ms", "604800000", "segment.ms", "86400000"));
        bench.send(bench.recordTo(topic, "event"));
        try (IdempotentConsumer<String, String> consumer = bench.consumer()
                .topics(topic)
                .handler(TransactionScope.PER_BATCH, Bench::effect)
                .build()) {
            MarkPartitions partitions = MarkPartitions.of(bench.pool);
            partitions.install();
            MarkCleanUp cleanUp = MarkCleanUp.builder()
                    .store(bench.store)
                    .age(Duration.ofDays(2))
                    .horizon(consumer::redeliveryHorizon)
                    .partitions(partitions)
                    .build();
            consumer.start();
            Bench.await("the effect", () -> bench.effects().size() == 1);
            consumer.stop(Duration.ofSeconds(30));

            passTime(Duration.ofDays(8).minusHours(1));
            assertThat(cleanUp.runOnce()).isZero();
            assertThat(marks()).isEqualTo(1);

            passTime(Duration.ofHours(2));
            assertThat(cleanUp.runOnce()).isEqualTo(1);
            assertThat(marks()).isZero();
        }
    }

    /** Instances share nothing but the database; together they delete each mark once, and none that is young. */
    @Test
    void runOnce_manyInstancesAtOnce_deleteEachOldMarkOnce() throws Exception {
        bench.store.register(bench.consumerId);
        mark(3_000);
        passTime(Duration.ofDays(3));
        mark(100);
        int instances = 4;
        ExecutorService threads = Executors.newFixedThreadPool(instances);
        try {
            List<Callable<Integer>> jobs = new ArrayList<>();
            for (int i = 0; i < instances; i++) {
                MarkCleanUp cleanUp = MarkCleanUp.builder()
                        .store(JdbiEventStore.of(bench.pool))
                        .age(Duration.ofDays(2))
                        .batch(200)
                        .build();
                jobs.add(() -> {
                    int deleted = 0;
                    while (bench.number(
                                    "SELECT count(*) FROM processed_event WHERE marked_at < now() - interval '2 days'")
                            > 0) {
                        deleted += cleanUp.runOnce();
                    }
                    return deleted;
                });
            }
            int deleted = 0;
            for (Future<Integer> job : threads.invokeAll(jobs)) {
                deleted += job.get(60, TimeUnit.SECONDS);
            }
            assertThat(deleted).isEqualTo(3_000);
        } finally {
            threads.shutdownNow();
        }
        assertThat(marks()).isEqualTo(100);
    }

    /** Whoever has the lock works; the others leave it to that one and wait for nothing. */
    @Test
    void runOnce_whileAnotherInstanceDeletes_returnsAtOnce() throws Exception {
        bench.store.register(bench.consumerId);
        mark(10);
        passTime(Duration.ofDays(3));
        MarkCleanUp cleanUp =
                MarkCleanUp.builder().store(bench.store).age(Duration.ofDays(2)).build();
        try (java.sql.Connection other = bench.database.dataSource().getConnection();
                java.sql.Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute(
                    "SELECT pg_advisory_xact_lock(hashtextextended('dev.idempotency.jdbi processed_event', 0))");

            assertThat(cleanUp.runOnce()).isZero();
            other.rollback();
        }
        assertThat(cleanUp.runOnce()).isEqualTo(10);
    }

    private void mark(int count) {
        bench.update("INSERT INTO processed_event (event_id, consumer_id) SELECT gen_random_uuid(), consumer_id FROM"
                + " event_consumer, generate_series(1, " + count + ") WHERE name = 'billing'");
    }
}
