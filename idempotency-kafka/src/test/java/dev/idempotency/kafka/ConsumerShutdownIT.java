package dev.idempotency.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.event.TransactionScope;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Phase;
import dev.idempotency.shutdown.Reason;
import dev.idempotency.testkit.fault.Gate;
import dev.idempotency.testkit.service.EmbeddedKafka;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How a consumer ends, and how it gives partitions up to another. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ConsumerShutdownIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

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
        bench = new Bench(kafka, 2);
    }

    @AfterEach
    void tidy() {
        bench.close();
    }

    @Test
    void shutdown_finishesTheTransactionInHandBeforeThePoolIsClosed() throws Exception {
        for (int i = 0; i < 3; i++) {
            bench.send(0, "event-" + i, "value");
        }
        GracefulShutdown shutdown = GracefulShutdown.ofDefaults();
        AtomicBoolean poolMayClose = new AtomicBoolean();
        Gate inHand = new Gate();
        AtomicInteger runs = new AtomicInteger();
        IdempotentConsumer<String, String> consumer = bench.consumer(Map.of("max.poll.records", "1"))
                .shutdown(shutdown)
                .handler(TransactionScope.PER_EVENT, (record, context) -> {
                    if (runs.getAndIncrement() == 0) {
                        inHand.pass();
                    }
                    Bench.effect(record, context);
                })
                .build();
        CountDownLatch intakeStopped = new CountDownLatch(1);
        shutdown.on(Phase.DRAIN, "observer", deadline -> intakeStopped.countDown());
        shutdown.on(Phase.CLOSE, "pool", deadline -> poolMayClose.set(true));
        consumer.start();
        inHand.awaitReached(PATIENCE);

        CompletableFuture<?> end = shutdown.shutdown(new Reason("test")).toCompletableFuture();
        assertThat(intakeStopped.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(poolMayClose).as("while a transaction is in hand").isFalse();
        inHand.open();
        end.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);

        assertThat(poolMayClose).isTrue();
        assertThat(consumer.isRunning()).isFalse();
        assertThat(bench.effects()).as("finished, and no further begun").containsExactly("event-0");
        assertThat(bench.committed(0)).as("committed to Kafka on the way out").isEqualTo(1);
    }

    @Test
    void stop_handlerDoesNotReturn_namesThePartitionAndIsRolledBackByNobody() {
        bench.send(1, "slow", "value");
        Gate inHand = new Gate();
        IdempotentConsumer<String, String> consumer = bench.consumer()
                .handler(TransactionScope.PER_EVENT, (record, context) -> {
                    inHand.pass();
                    Bench.effect(record, context);
                })
                .build();
        consumer.start();
        inHand.awaitReached(PATIENCE);

        StopReport late = consumer.stop(Duration.ofMillis(50));

        assertThat(late.drained()).isFalse();
        assertThat(late.unfinished())
                .singleElement()
                .satisfies(partition -> assertThat(partition.partition()).isEqualTo(1));
        inHand.open();
        assertThat(consumer.stop(PATIENCE).drained()).isTrue();
        assertThat(bench.effects()).containsExactly("slow");
    }

    @Test
    void stop_nothingInFlight_isDrainedAndMayBeRepeated() {
        IdempotentConsumer<String, String> consumer = bench.consumer()
                .handler(TransactionScope.PER_BATCH, Bench::effect)
                .build();
        assertThat(consumer.stop(Duration.ZERO).drained()).as("never started").isTrue();

        try (IdempotentConsumer<String, String> started = bench.consumer()
                .handler(TransactionScope.PER_BATCH, Bench::effect)
                .build()) {
            started.start();
            Bench.await("the assignment", () -> bench.number("SELECT count(*) FROM partition_offset") == 2);
            assertThat(started.stop(PATIENCE).drained()).isTrue();
            assertThat(started.stop(PATIENCE).drained()).isTrue();
            assertThat(started.failure()).isEmpty();
        }
    }

    /** Partitions move to and fro while records flow; what is given up has been committed, to both. */
    @Test
    void rebalance_whileRecordsFlow_eachTakesEffectOnceAndKafkaIsNeverAhead() {
        List<String> produced = new ArrayList<>();
        try (IdempotentConsumer<String, String> stays = bench.consumer(Map.of("max.poll.records", "7"))
                .handler(TransactionScope.PER_BATCH, Bench::effect)
                .build()) {
            stays.start();
            for (int round = 0; round < 3; round++) {
                produced.addAll(produce(60));
                try (IdempotentConsumer<String, String> comes = bench.consumer(Map.of("max.poll.records", "7"))
                        .handler(TransactionScope.PER_BATCH, Bench::effect)
                        .build()) {
                    comes.start();
                    long epochs = bench.number("SELECT coalesce(sum(epoch), 0) FROM partition_offset");
                    Bench.await(
                            "a partition to move",
                            () -> bench.number("SELECT coalesce(sum(epoch), 0) FROM partition_offset") > epochs);
                    produced.addAll(produce(60));
                    Bench.await("the effects", () -> bench.effects().size() >= produced.size());
                }
                for (int partition = 0; partition < 2; partition++) {
                    assertThat(bench.committed(partition))
                            .isLessThanOrEqualTo(bench.number(
                                    "SELECT next_offset FROM partition_offset WHERE partition_number = " + partition));
                }
            }
        }
        assertThat(bench.effects()).containsExactlyInAnyOrderElementsOf(produced);
        assertThat(bench.number("SELECT count(*) FROM (SELECT record_offset, lag(record_offset) OVER (PARTITION BY"
                        + " topic_partition ORDER BY seq) AS before FROM effect) e WHERE before > record_offset"))
                .as("records out of order")
                .isZero();
    }

    private List<String> produce(int count) {
        List<String> ids = new ArrayList<>();
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String id = UUID.randomUUID().toString();
            ids.add(id);
            records.add(bench.record(i % 2, id, "value"));
        }
        bench.sendAll(records);
        return ids;
    }
}
