package dev.idempotency.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.SchemaException;
import dev.idempotency.event.RetryPolicy;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.jdbi.JdbiEventStore;
import dev.idempotency.testkit.service.EmbeddedKafka;
import dev.idempotency.testkit.service.EmbeddedPostgreSql;
import dev.idempotency.testkit.service.PostgreSqlDatabase;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The rows of the table "Bad input" in the module's README; behind each bad record stands a good one. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class BadInputIT {
    private static final RetryPolicy TWICE = new RetryPolicy(2, Duration.ofMillis(1), Duration.ofMillis(5));

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

    private IdempotentConsumerBuilder<String, String> consumer(RecordHandler<String, String> more) {
        return bench.consumer().retry(TWICE).handler(TransactionScope.PER_BATCH, (record, context) -> {
            Bench.effect(record, context);
            more.handle(record, context);
        });
    }

    /** Runs until the good record behind has taken effect, or the bad one stands parked in front of nothing. */
    private void runUntilTheGoodOne(IdempotentConsumerBuilder<String, String> consumer) {
        bench.send(0, "good", "good");
        try (IdempotentConsumer<String, String> running = consumer.build()) {
            running.start();
            Bench.await("the good record's effect", () -> bench.effects().contains("good"));
        }
    }

    private List<String> parked() {
        return bench.strings("SELECT event_id FROM parked_event ORDER BY record_offset");
    }

    private ProducerRecord<byte[], byte[]> record(byte @Nullable [] value, Object... headers) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(bench.topic, 0, null, value);
        for (int i = 0; i < headers.length; i += 2) {
            record.headers()
                    .add(
                            headers[i].toString(),
                            headers[i + 1] instanceof byte[] bytes
                                    ? bytes
                                    : headers[i + 1].toString().getBytes(UTF_8));
        }
        return record;
    }

    @Test
    void tombstoneAndNullKey_areRecordsLikeOthers() {
        bench.send(record(null, "eventId", "tombstone"));
        AtomicInteger nulls = new AtomicInteger();

        runUntilTheGoodOne(consumer((record, context) -> {
            if (record.value() == null && record.key() == null) {
                nulls.incrementAndGet();
            }
        }));

        assertThat(nulls).hasValue(1);
        assertThat(bench.effects()).containsExactly("tombstone", "good");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void undecodable_isParkedWhole(boolean key) {
        byte[] broken = {(byte) 0xff};
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(bench.topic, 0, broken, broken);
        record.headers().add("eventId", "broken".getBytes(UTF_8));
        bench.send(record);
        StringDeserializer picky = new StringDeserializer() {
            @Override
            public String deserialize(String topic, byte[] data) {
                if (data.length > 0 && data[0] == (byte) 0xff) {
                    throw new SerializationException("no text");
                }
                return super.deserialize(topic, data);
            }
        };
        StringDeserializer plain = new StringDeserializer();

        runUntilTheGoodOne(consumer((r, context) -> {}).deserializers(key ? picky : plain, key ? plain : picky));

        assertThat(parked()).containsExactly("broken");
        assertThat(bench.strings("SELECT encode(record_value, 'hex') FROM parked_event"))
                .containsExactly("ff");
    }

    @Test
    void missingId_holdsThePartition() {
        bench.send(record("no id".getBytes(UTF_8)));
        bench.send(0, "good", "good");
        try (IdempotentConsumer<String, String> consumer =
                consumer((record, context) -> {}).build()) {
            consumer.start();
            Bench.await("several attempts", () -> bench.faults.rollbacks() > 5);

            assertThat(bench.effects()).isEmpty();
            assertThat(parked()).isEmpty();
        }
    }

    @Test
    void missingId_withParking_isParkedAtOnce() {
        bench.send(record("no id".getBytes(UTF_8)));

        runUntilTheGoodOne(consumer((record, context) -> {}).missingEventId(MissingEventId.PARK));

        assertThat(parked()).singleElement().asString().startsWith("position:");
        assertThat(bench.effects()).containsExactly("good");
    }

    @Test
    void missingId_withPosition_isHandled() {
        bench.send(record("no id".getBytes(UTF_8)));

        runUntilTheGoodOne(consumer((record, context) -> {}).missingEventId(MissingEventId.POSITION));

        assertThat(bench.effects()).hasSize(2);
        assertThat(bench.effects().get(0)).startsWith("position:");
    }

    /** Empty, oversized, or two that contradict each other: an id that cannot be read is as good as none. */
    @ParameterizedTest
    @ValueSource(strings = {"empty", "oversized", "contradicting"})
    void unreadableId_isTreatedAsMissing(String kind) {
        byte[] value = kind.getBytes(UTF_8);
        bench.send(
                switch (kind) {
                    case "empty" -> record(value, "eventId", "");
                    case "oversized" -> record(value, "eventId", "x".repeat(5_000));
                    default -> record(value, "eventId", "a", "eventId", "b");
                });

        runUntilTheGoodOne(consumer((record, context) -> {}).missingEventId(MissingEventId.PARK));

        assertThat(parked()).hasSize(1);
        assertThat(bench.strings("SELECT reason FROM parked_event").get(0)).contains("eventId");
        assertThat(bench.effects()).containsExactly("good");
    }

    @Test
    void repeatedIdHeaderWithOneValue_isThatId() {
        bench.send(record("twice".getBytes(UTF_8), "eventId", "a", "eventId", "a"));

        runUntilTheGoodOne(consumer((record, context) -> {}));

        assertThat(bench.effects()).containsExactly("a", "good");
    }

    @Test
    void binaryIdHeader_isTheSameIdAsText() {
        UUID id = UUID.randomUUID();
        byte[] binary = ByteBuffer.allocate(16)
                .putLong(id.getMostSignificantBits())
                .putLong(id.getLeastSignificantBits())
                .array();
        bench.send(record("binary".getBytes(UTF_8), "eventId", binary));
        bench.send(record("text".getBytes(UTF_8), "eventId", id));

        runUntilTheGoodOne(consumer((record, context) -> {}));

        assertThat(bench.effects()).containsExactly(id.toString(), "good");
    }

    @Test
    void sameIdWithAnotherPayload_isADuplicateOfTheFirst() {
        bench.send(0, "a", "first");
        bench.send(0, "a", "second");
        StringBuilder seen = new StringBuilder();

        runUntilTheGoodOne(
                consumer((record, context) -> seen.append(record.value()).append(' ')));

        assertThat(bench.effects()).containsExactly("a", "good");
        assertThat(seen.toString()).contains("first").doesNotContain("second");
    }

    @ParameterizedTest
    @ValueSource(strings = {"commit", "rollback", "textual rollback", "textual commit"})
    void handlerEndsItsTransaction_isParkedAndNothingIsLeftOfIt(String how) {
        bench.send(0, "bad", "bad");

        runUntilTheGoodOne(consumer((record, context) -> {
            if (record.value().equals("bad")) {
                Connection connection = context.transaction().unwrap(Connection.class);
                switch (how) {
                    case "commit" -> connection.commit();
                    case "rollback" -> connection.rollback();
                    case "textual commit" -> execute(connection, "COMMIT");
                    default -> execute(connection, "ROLLBACK");
                }
            }
        }));

        assertThat(parked()).containsExactly("bad");
        assertThat(bench.effects()).containsExactly("good");
    }

    @Test
    void handlerClosesTheConnection_changesNothing() {
        bench.send(0, "a", "a");

        runUntilTheGoodOne(consumer((record, context) ->
                context.transaction().unwrap(Connection.class).close()));

        assertThat(bench.effects()).containsExactly("a", "good");
        assertThat(parked()).isEmpty();
    }

    @Test
    void handlerSwallowsAnSqlException_isParkedAndNothingIsLeftOfIt() {
        bench.send(0, "bad", "bad");

        runUntilTheGoodOne(consumer((record, context) -> {
            if (record.value().equals("bad")) {
                try {
                    execute(context.transaction().unwrap(Connection.class), "SELECT 1 / 0");
                } catch (SQLException e) {
                    assertThat(e.getSQLState()).isEqualTo("22012");
                }
            }
        }));

        assertThat(parked()).containsExactly("bad");
        assertThat(bench.effects()).containsExactly("good");
    }

    /** Nobody can take back what is written elsewhere: it is there twice after two attempts. */
    @Test
    void handlerUsesAnotherDataSource_whatItWritesThereIsRepeated() {
        bench.update("CREATE TABLE elsewhere (id text)");
        bench.send(0, "bad", "bad");

        runUntilTheGoodOne(consumer((record, context) -> {
            if (record.value().equals("bad")) {
                try (Connection other = bench.pool.getConnection()) {
                    execute(other, "INSERT INTO elsewhere VALUES ('written outside')");
                }
                throw new IllegalStateException("fails afterwards");
            }
        }));

        assertThat(parked()).containsExactly("bad");
        assertThat(bench.number("SELECT count(*) FROM elsewhere")).isGreaterThanOrEqualTo(2);
    }

    @Test
    void missingTables_areNamedAtTheStart() {
        try (PostgreSqlDatabase empty = EmbeddedPostgreSql.shared().createDatabase()) {
            assertThatThrownBy(() -> JdbiEventStore.of(empty.dataSource()))
                    .isInstanceOf(SchemaException.class)
                    .hasMessageContaining("CREATE TABLE")
                    .hasMessageContaining("processed_event");
        }
    }

    @Test
    void readOnlyDatabase_isWaitedForAndNothingIsParked() {
        bench.store.register(bench.consumerId);
        bench.send(0, "a", "a");
        bench.send(0, "good", "good");
        IdempotentConsumer<String, String> consumer =
                consumer((record, context) -> {}).build();
        readOnly(true);
        try (consumer) {
            long before = bench.faults.executions();
            consumer.start();
            Bench.await("attempts on the read-only database", () -> bench.faults.executions() > before + 10);
            assertThat(bench.effects()).isEmpty();

            readOnly(false);

            Bench.await("the effects", () -> bench.effects().size() >= 2);
        }
        assertThat(bench.effects()).containsExactly("a", "good");
        assertThat(parked()).isEmpty();
    }

    /** It cannot go on, and must not look as if it had been stopped in order. */
    @Test
    void handlerInterruptsItsThread_consumerTellsWhatEndedIt() {
        bench.send(0, "a", "a");
        try (IdempotentConsumer<String, String> consumer = consumer(
                        (record, context) -> Thread.currentThread().interrupt())
                .build()) {
            consumer.start();
            Bench.await("the end of the consumer", () -> !consumer.isRunning());

            assertThat(consumer.failure()).containsInstanceOf(InterruptException.class);
        }
    }

    /** As after a fail-over: the sessions that are there keep their mode, so they are ended. */
    private void readOnly(boolean on) {
        try (Connection admin = bench.database.dataSource().getConnection()) {
            execute(admin, "SET default_transaction_read_only = off");
            execute(
                    admin,
                    "ALTER DATABASE " + bench.database.name() + " SET default_transaction_read_only = "
                            + (on ? "on" : "off"));
            execute(
                    admin,
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND"
                            + " pid <> pg_backend_pid()");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        bench.pool.getHikariPoolMXBean().softEvictConnections();
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
