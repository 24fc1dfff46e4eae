package dev.idempotency.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.event.DeadLetters;
import dev.idempotency.event.RetryPolicy;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.jdbi.JdbiOutboxStore;
import dev.idempotency.outbox.OutboxRelay;
import dev.idempotency.testkit.service.EmbeddedKafka;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A topic for dead letters that does not take them: the record stays parked, and nothing else suffers. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class DeadLetterTopicIT {
    private static EmbeddedKafka kafka;
    private Bench bench;
    private String deadTopic;
    private JdbiOutboxStore outbox;
    private KafkaOutboxPublisher publisher;

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
        deadTopic = bench.topic + ".dead";
        outbox = JdbiOutboxStore.of(bench.pool);
        publisher =
                KafkaOutboxPublisher.of(Map.of("bootstrap.servers", kafka.bootstrapServers(), "max.block.ms", "500"));
    }

    @AfterEach
    void tidy() {
        publisher.close();
        bench.close();
    }

    private IdempotentConsumer<String, String> consumer() {
        return bench.consumer()
                .retry(new RetryPolicy(1, Duration.ofMillis(1), Duration.ofMillis(1)))
                .deadLetters(DeadLetters.to(deadTopic, outbox))
                .handler(TransactionScope.PER_BATCH, (record, context) -> {
                    if (record.value().startsWith("bad")) {
                        throw new IllegalArgumentException("cannot handle this");
                    }
                    Bench.effect(record, context);
                })
                .build();
    }

    private OutboxRelay relay() {
        return OutboxRelay.claiming(outbox, publisher)
                .poll(Duration.ofMillis(5), Duration.ofMillis(20))
                .retry(new dev.idempotency.outbox.RetryPolicy(2, Duration.ofMillis(10), Duration.ofMillis(20)))
                .build();
    }

    @Test
    void deadLetterTooLargeForItsTopic_recordStaysParkedAndTheDeadLetterIsGivenUp() {
        kafka.createTopic(deadTopic, 1, Map.of("max.message.bytes", "2000"));
        bench.send(0, "a", "bad" + "x".repeat(5_000));
        bench.send(0, "b", "good");
        bench.send(0, "c", "bad and short");
        try (IdempotentConsumer<String, String> consumer = consumer();
                OutboxRelay relay = relay()) {
            consumer.start();
            relay.start();
            Bench.await(
                    "the dead letter given up",
                    () -> bench.number("SELECT count(*) FROM outbox_event WHERE status = 'DEAD'") == 1);

            assertThat(KafkaRecords.read(kafka, deadTopic, 1))
                    .as("the short one")
                    .hasSize(1);
            assertThat(bench.effects()).containsExactly("b");
            assertThat(bench.strings("SELECT event_id FROM parked_event ORDER BY record_offset"))
                    .containsExactly("a", "c");
        }
    }

    @Test
    void unknownTopic_recordStaysParkedAndTheDeadLetterWaitsForTheTopic() {
        bench.send(0, "a", "bad");
        bench.send(0, "b", "good");
        try (IdempotentConsumer<String, String> consumer = consumer();
                OutboxRelay relay = relay()) {
            consumer.start();
            relay.start();
            Bench.await("the effect behind it", () -> bench.effects().contains("b"));
            assertThat(bench.strings("SELECT event_id FROM parked_event")).containsExactly("a");

            kafka.createTopic(deadTopic, 1);

            assertThat(KafkaRecords.read(kafka, deadTopic, 1)).hasSize(1);
            assertThat(bench.number("SELECT count(*) FROM outbox_event WHERE status = 'DEAD'"))
                    .isZero();
        }
    }
}
