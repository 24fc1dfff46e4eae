package dev.idempotency.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.ConsumerId;
import dev.idempotency.event.DeadLetters;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.testkit.memory.InMemoryDatabase;
import dev.idempotency.testkit.memory.InMemoryEventStore;
import dev.idempotency.testkit.memory.InMemoryOutboxStore;
import dev.idempotency.transaction.TransactionLimits;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StartupChecksTest {
    private static final Map<String, Object> SOUND =
            Map.of("isolation.level", "read_committed", "auto.offset.reset", "earliest");

    private static IdempotentConsumer<String, String> build(Map<String, Object> more) {
        InMemoryDatabase database = InMemoryDatabase.create();
        Map<String, Object> properties = new HashMap<>(more);
        properties.put("bootstrap.servers", "localhost:1");
        return IdempotentConsumer.<String, String>builder()
                .consumer(ConsumerId.of("billing"))
                .topics("orders")
                .properties(properties)
                .deserializers(new StringDeserializer(), new StringDeserializer())
                .store(InMemoryEventStore.of(database))
                .transactions(database)
                .handler(TransactionScope.PER_BATCH, (record, context) -> {})
                .build();
    }

    @ParameterizedTest
    @CsvSource({"true", "TRUE", "' true '"})
    void build_autoCommit_isRefused(String value) {
        assertThatThrownBy(() -> build(Map.of("enable.auto.commit", value)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("enable.auto.commit");
    }

    @ParameterizedTest
    @CsvSource({"max.poll.interval.ms, soon", "max.poll.interval.ms, 0", "max.poll.records, many"})
    void build_numberThatIsNone_isRefused(String name, String value) {
        assertThatThrownBy(() -> build(Map.of(name, value)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(name)
                .hasMessageContaining(value);
    }

    @Test
    void build_withoutServers_isRefused() {
        assertThatThrownBy(() -> IdempotentConsumer.<String, String>builder()
                        .consumer(ConsumerId.of("billing"))
                        .topics("orders")
                        .store(InMemoryEventStore.of(InMemoryDatabase.create()))
                        .build())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("bootstrap.servers");
    }

    @Test
    void build_deadLettersToATopicThatIsConsumed_isRefused() {
        InMemoryDatabase database = InMemoryDatabase.create();

        assertThatThrownBy(() -> IdempotentConsumer.<String, String>builder()
                        .consumer(ConsumerId.of("billing"))
                        .topics("orders", "orders.dead")
                        .properties(Map.of("bootstrap.servers", "localhost:1"))
                        .deserializers(new StringDeserializer(), new StringDeserializer())
                        .store(InMemoryEventStore.of(database))
                        .transactions(database)
                        .deadLetters(DeadLetters.to("orders.dead", InMemoryOutboxStore.of(database)))
                        .handler(TransactionScope.PER_BATCH, (record, context) -> {})
                        .build())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("orders.dead");
    }

    @Test
    void warnings_soundSettings_areNone() {
        assertThat(StartupChecks.warnings(SOUND, TransactionLimits.ofDefaults()))
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "isolation.level, read_uncommitted",
        "auto.offset.reset, latest",
        // Twice 10 s for a statement and 15 s for a pause.
        "max.poll.interval.ms, 49999"
    })
    void warnings_unsoundSetting_isNamed(String name, String value) {
        Map<String, Object> properties = new HashMap<>(SOUND);
        properties.put(name, value);

        assertThat(StartupChecks.warnings(properties, TransactionLimits.ofDefaults()))
                .singleElement()
                .asString()
                .contains(name);
    }

    @Test
    void warnings_pollIntervalJustLongEnough_isNone() {
        Map<String, Object> properties = new HashMap<>(SOUND);
        properties.put("max.poll.interval.ms", "50000");

        assertThat(StartupChecks.warnings(properties, TransactionLimits.ofDefaults()))
                .isEmpty();
    }

    @Test
    void retentionWarning_namesTheTopicsThatKeepRecordsLongerThanMarks() {
        Duration week = Duration.ofDays(7);

        assertThat(StartupChecks.retentionWarning(week, Map.of("orders", Optional.of(week))))
                .isEmpty();
        assertThat(StartupChecks.retentionWarning(
                        week,
                        Map.of(
                                "orders",
                                Optional.of(week),
                                "payments",
                                Optional.of(week.plusMillis(1)),
                                "customers",
                                Optional.empty())))
                .hasValueSatisfying(warning -> assertThat(warning)
                        .contains("payments", "customers=for ever")
                        .doesNotContain("orders"));
    }
}
