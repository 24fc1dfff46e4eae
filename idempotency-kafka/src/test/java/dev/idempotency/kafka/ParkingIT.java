package dev.idempotency.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.event.DeadLetters;
import dev.idempotency.event.ReplayOutcome;
import dev.idempotency.event.RetryPolicy;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.jdbi.JdbiOutboxStore;
import dev.idempotency.outbox.OutboxRelay;
import dev.idempotency.spi.ParkedEvent;
import dev.idempotency.testkit.service.EmbeddedKafka;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What becomes of a record whose handler fails as often as it may. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ParkingIT {
    private static final RetryPolicy TWICE = new RetryPolicy(2, Duration.ofMillis(1), Duration.ofMillis(5));

    private static EmbeddedKafka kafka;
    private Bench bench;

    /** Whether the handler can handle the bad record now. */
    private final AtomicBoolean cured = new AtomicBoolean();

    private final AtomicInteger runsOfTheBad = new AtomicInteger();

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

    private IdempotentConsumerBuilder<String, String> consumer() {
        return bench.consumer().retry(TWICE).handler(TransactionScope.PER_BATCH, (record, context) -> {
            Bench.effect(record, context);
            if (record.value().startsWith("bad")) {
                runsOfTheBad.incrementAndGet();
                if (!cured.get()) {
                    throw new IllegalArgumentException("cannot handle this");
                }
            }
        });
    }

    private ParkedEvent awaitParked() {
        Bench.await("a parked record", () -> bench.number("SELECT count(*) FROM parked_event") > 0);
        return bench.store.findParked(bench.consumerId, null, 10).get(0);
    }

    @Test
    void badRecord_isParkedWholeWithoutAMarkAndTheOthersGoOn() {
        bench.send(0, "a", "good");
        bench.send(0, "b", "bad");
        bench.send(0, "c", "good");
        bench.send(1, "d", "good");
        try (IdempotentConsumer<String, String> consumer = consumer().build()) {
            consumer.start();
            Bench.await("the others' effects", () -> bench.effects().size() >= 3);

            assertThat(consumer.findParked(10)).singleElement().satisfies(parked -> {
                assertThat(parked.id().value()).isEqualTo("b");
                assertThat(parked.offset()).isEqualTo(1);
                assertThat(parked.key()).asString(UTF_8).isEqualTo("key-0");
                assertThat(parked.value()).asString(UTF_8).isEqualTo("bad");
                assertThat(parked.headers()).extracting(Object::toString).containsExactly("eventId[1 bytes]");
                assertThat(parked.attempts()).isEqualTo(2);
                assertThat(parked.reason()).contains("cannot handle this");
            });
        }
        assertThat(bench.effects()).containsExactlyInAnyOrder("a", "c", "d");
        assertThat(bench.number("SELECT count(*) FROM processed_event"))
                .as("marks: none for the parked one")
                .isEqualTo(3);
        assertThat(bench.number("SELECT next_offset FROM partition_offset WHERE partition_number = 0"))
                .isEqualTo(3);
    }

    @Test
    void replay_succeeds_handlesUnderTheSameIdAndRemovesTheRow() {
        bench.send(0, "b", "bad");
        try (IdempotentConsumer<String, String> consumer = consumer().build()) {
            consumer.start();
            ParkedEvent parked = awaitParked();

            assertThat(consumer.replay(parked)).as("not cured yet").isInstanceOf(ReplayOutcome.Failed.class);
            assertThat(consumer.findParked(10)).hasSize(1);
            assertThat(bench.effects()).isEmpty();

            cured.set(true);
            assertThat(consumer.replay(parked)).isEqualTo(new ReplayOutcome.Handled());
            assertThat(consumer.findParked(10)).isEmpty();
            assertThat(bench.effects()).containsExactly("b");

            assertThat(consumer.replay(parked)).isEqualTo(new ReplayOutcome.NotParked());
            assertThat(bench.effects()).containsExactly("b");
        }
    }

    /** The producer's side has sent it again, and that delivery was handled. */
    @Test
    void replay_eventWasProcessedMeanwhile_onlyRemovesTheRow() {
        bench.send(0, "b", "bad");
        try (IdempotentConsumer<String, String> consumer = consumer().build()) {
            consumer.start();
            ParkedEvent parked = awaitParked();
            cured.set(true);
            bench.send(1, "b", "bad");
            Bench.await(
                    "the effect of the second delivery", () -> !bench.effects().isEmpty());

            assertThat(consumer.replay(parked)).isEqualTo(new ReplayOutcome.AlreadyProcessed());

            assertThat(consumer.findParked(10)).isEmpty();
            assertThat(bench.effects()).containsExactly("b");
        }
    }

    /** Poison of another kind: five losses of the connection are forgiven, two more are the two attempts it has. */
    @Test
    void recordEndsItsSessionEachTime_isParkedAndTheOthersGoOn() {
        bench.send(0, "a", "good");
        bench.send(0, "b", "kills its session");
        bench.send(0, "c", "good");
        AtomicInteger runs = new AtomicInteger();
        try (IdempotentConsumer<String, String> consumer = bench.consumer()
                .retry(TWICE)
                .handler(TransactionScope.PER_EVENT, (record, context) -> {
                    Bench.effect(record, context);
                    if (record.value().startsWith("kills")) {
                        runs.incrementAndGet();
                        try (Statement statement =
                                context.transaction().unwrap(Connection.class).createStatement()) {
                            statement.execute("SELECT pg_terminate_backend(pg_backend_pid())");
                        }
                    }
                })
                .build()) {
            consumer.start();
            Bench.await("the others' effects", () -> bench.effects().size() >= 2);
        }
        assertThat(bench.effects()).containsExactly("a", "c");
        assertThat(runs).hasValue(7);
        assertThat(bench.strings("SELECT event_id FROM parked_event")).containsExactly("b");
    }

    @Test
    void deadLetter_isWrittenWithTheRowAndReachesItsTopic() {
        String deadTopic = bench.topic + ".dead";
        kafka.createTopic(deadTopic, 1);
        JdbiOutboxStore outbox = JdbiOutboxStore.of(bench.pool);
        bench.send(0, "b", "bad");
        try (IdempotentConsumer<String, String> consumer = consumer()
                        .deadLetters(DeadLetters.to(deadTopic, outbox))
                        .build();
                KafkaOutboxPublisher publisher =
                        KafkaOutboxPublisher.of(Map.of("bootstrap.servers", kafka.bootstrapServers()));
                OutboxRelay relay = OutboxRelay.claiming(outbox, publisher).build()) {
            consumer.start();
            awaitParked();
            assertThat(bench.number("SELECT count(*) FROM outbox_event")).isEqualTo(1);
            relay.start();

            List<ConsumerRecord<byte[], byte[]>> dead = KafkaRecords.read(kafka, deadTopic, 1);

            assertThat(dead).singleElement().satisfies(record -> {
                assertThat(record.key()).asString(UTF_8).isEqualTo("key-0");
                assertThat(record.value()).asString(UTF_8).isEqualTo("bad");
                assertThat(header(record, DeadLetters.EVENT_ID)).isEqualTo("b");
                assertThat(header(record, DeadLetters.POSITION)).isEqualTo(bench.topic + "/0/0");
                assertThat(header(record, "eventId")).isNotEqualTo("b");
                assertThat(EventIds.ofDefaults().extract(record))
                        .hasValueSatisfying(id -> assertThat(id.value()).isEqualTo("b"));
            });
        }
    }

    /** Parking and dead letter are one transaction: if the one cannot be written, neither is, and nothing is skipped. */
    @Test
    void deadLetter_cannotBeWritten_nothingIsParkedAndThePartitionWaits() {
        JdbiOutboxStore outbox = JdbiOutboxStore.of(bench.pool);
        bench.update("ALTER TABLE outbox_event RENAME TO outbox_event_away");
        bench.send(0, "b", "bad");
        bench.send(0, "c", "good");
        try (IdempotentConsumer<String, String> consumer = consumer()
                .deadLetters(DeadLetters.to(bench.topic + ".dead", outbox))
                .build()) {
            consumer.start();
            Bench.await("more attempts than the policy has", () -> runsOfTheBad.get() > 4);
            assertThat(bench.effects()).isEmpty();
            assertThat(consumer.findParked(10)).isEmpty();

            bench.update("ALTER TABLE outbox_event_away RENAME TO outbox_event");

            Bench.await("the effect behind it", () -> !bench.effects().isEmpty());
            assertThat(consumer.findParked(10)).hasSize(1);
            assertThat(bench.number("SELECT count(*) FROM outbox_event")).isEqualTo(1);
        }
    }

    private static String header(ConsumerRecord<byte[], byte[]> record, String name) {
        Header header = record.headers().lastHeader(name);
        return header == null ? "none" : new String(header.value(), UTF_8);
    }
}
