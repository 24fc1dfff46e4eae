package dev.idempotency.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.event.ReplayOutcome;
import dev.idempotency.event.RetryPolicy;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.spi.ParkedEvent;
import dev.idempotency.testkit.service.EmbeddedKafka;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** With {@link GivingUp#PARK_IN_KEY_ORDER} later records of a key wait behind the one that was parked. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class KeyOrderIT {
    private static EmbeddedKafka kafka;
    private final Set<String> bad = ConcurrentHashMap.newKeySet();
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

    private IdempotentConsumer<String, String> consumer(GivingUp givingUp) {
        return bench.consumer()
                .retry(new RetryPolicy(1, Duration.ofMillis(1), Duration.ofMillis(1)))
                .givingUp(givingUp)
                .handler(TransactionScope.PER_BATCH, (record, context) -> {
                    if (bad.contains(context.eventId().value())) {
                        throw new IllegalArgumentException("cannot handle this");
                    }
                    Bench.effect(record, context);
                })
                .build();
    }

    @SuppressWarnings("NullAway") // a key may be null, which Kafka's types do not say
    private ProducerRecord<byte[], byte[]> record(@Nullable String key, String eventId) {
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>(bench.topic, 0, key == null ? null : key.getBytes(UTF_8), new byte[] {'v'});
        record.headers().add("eventId", eventId.getBytes(UTF_8));
        return record;
    }

    private void awaitOffset(long offset) {
        Bench.await(
                "the offset " + offset,
                () -> bench.number("SELECT coalesce(max(next_offset), 0) FROM partition_offset") >= offset);
    }

    private static List<String> ids(List<ParkedEvent> parked) {
        return parked.stream().map(event -> event.id().value()).toList();
    }

    @Test
    void laterRecordsOfTheKey_waitUntilTheFirstIsReplayed_andTheOthersGoOn() {
        bad.add("a1");
        bench.sendAll(List.of(
                record("a", "a1"),
                record("b", "b1"),
                record("a", "a2"),
                record("b", "b2"),
                record("a", "a3"),
                record(null, "none"),
                record("b", "b3")));
        try (IdempotentConsumer<String, String> consumer = consumer(GivingUp.PARK_IN_KEY_ORDER)) {
            consumer.start();
            awaitOffset(7);

            assertThat(bench.effects()).containsExactly("b1", "b2", "none", "b3");
            List<ParkedEvent> parked = consumer.findParked(10);
            assertThat(ids(parked)).containsExactly("a1", "a2", "a3");
            assertThat(parked.get(1).attempts()).as("untried").isZero();
            assertThat(parked.get(1).reason()).contains("earlier event of its key");

            bad.clear();
            assertThat(consumer.replay(parked.get(1))).as("out of its turn").isEqualTo(new ReplayOutcome.Waits(0));
            parked.forEach(event -> assertThat(consumer.replay(event)).isEqualTo(new ReplayOutcome.Handled()));
            assertThat(bench.effects()).containsExactly("b1", "b2", "none", "b3", "a1", "a2", "a3");

            bench.send(record("a", "a4"));
            Bench.await("the next of the key", () -> bench.effects().contains("a4"));
            assertThat(consumer.findParked(10)).isEmpty();
        }
    }

    @Test
    void nextOwner_keepsTheOrderToo() {
        bad.add("a1");
        bench.sendAll(List.of(record("a", "a1"), record("b", "b1")));
        try (IdempotentConsumer<String, String> consumer = consumer(GivingUp.PARK_IN_KEY_ORDER)) {
            consumer.start();
            awaitOffset(2);
        }
        bad.clear();
        bench.sendAll(List.of(record("a", "a2"), record("b", "b2")));
        try (IdempotentConsumer<String, String> consumer = consumer(GivingUp.PARK_IN_KEY_ORDER)) {
            consumer.start();
            awaitOffset(4);
            assertThat(bench.effects()).containsExactly("b1", "b2");
            assertThat(ids(consumer.findParked(10))).containsExactly("a1", "a2");
        }
    }

    @Test
    void withoutTheOption_onlyTheBadRecordIsParked() {
        bad.add("a1");
        bench.sendAll(List.of(record("a", "a1"), record("a", "a2")));
        try (IdempotentConsumer<String, String> consumer = consumer(GivingUp.PARK)) {
            consumer.start();
            awaitOffset(2);
            assertThat(bench.effects()).containsExactly("a2");
            assertThat(ids(consumer.findParked(10))).containsExactly("a1");
        }
    }
}
