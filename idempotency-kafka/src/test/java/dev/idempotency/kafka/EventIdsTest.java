package dev.idempotency.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.EventId;
import dev.idempotency.event.DeadLetters;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventIdsTest {
    private static final UUID ID = UUID.fromString("0190f3a1-7c11-7abc-8def-0123456789ab");

    private static ConsumerRecord<byte[], byte[]> record(Object... namesAndValues) {
        ConsumerRecord<byte[], byte[]> record = new ConsumerRecord<>("orders", 0, 0, new byte[0], new byte[0]);
        for (int i = 0; i < namesAndValues.length; i += 2) {
            Object value = namesAndValues[i + 1];
            record.headers()
                    .add(
                            (String) namesAndValues[i],
                            value instanceof byte[] bytes
                                    ? bytes
                                    : value.toString().getBytes(UTF_8));
        }
        return record;
    }

    private static byte[] binary(UUID id) {
        return ByteBuffer.allocate(16)
                .putLong(id.getMostSignificantBits())
                .putLong(id.getLeastSignificantBits())
                .array();
    }

    @Test
    void header_textJsonAndBinaryFormsOfOneUuid_areOneId() {
        EventIdExtractor extractor = EventIds.header("eventId");

        for (Object form : List.of(ID, "\"" + ID + "\"", binary(ID))) {
            assertThat(extractor.extract(record("eventId", form))).contains(EventId.of(ID.toString()));
        }
    }

    @Test
    void header_jsonEscapes_areUndone() {
        assertThat(EventIds.header("eventId").extract(record("eventId", "\"a\\\"b\\\\c\\/d\\u00e9\"")))
                .contains(EventId.of("a\"b\\c/dé"));
    }

    @Test
    void header_absent_isNoId() {
        assertThat(EventIds.header("eventId").extract(record("other", "x"))).isEmpty();
    }

    @Test
    void header_repeatedWithOneValue_isThatId() {
        assertThat(EventIds.header("eventId").extract(record("eventId", "a", "eventId", "a")))
                .contains(EventId.of("a"));
    }

    @Test
    void header_repeatedWithDifferentValues_isRefused() {
        assertThatThrownBy(() -> EventIds.header("eventId").extract(record("eventId", "a", "eventId", "b")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("stands twice");
    }

    @Test
    void header_empty_isRefused() {
        assertThatThrownBy(() -> EventIds.header("eventId").extract(record("eventId", "")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is empty");
    }

    @Test
    void header_oversized_isRefused() {
        assertThatThrownBy(() -> EventIds.header("eventId").extract(record("eventId", "x".repeat(10_000))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("too long");
    }

    @Test
    void header_binaryThatIsNoUuid_isRefused() {
        assertThatThrownBy(() -> EventIds.header("eventId").extract(record("eventId", new byte[] {(byte) 0xff, 1, 2})))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("neither text nor");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"a\\x\"", "\"a\\u12\"", "\"a\\u12g4\"", "\"a\\\""})
    void header_brokenJson_isRefused(String value) {
        assertThatThrownBy(() -> EventIds.header("eventId").extract(record("eventId", value)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no valid JSON");
    }

    @Test
    void cloudEvent_sameIdOfTwoSources_areTwoEvents() {
        EventIdExtractor extractor = EventIds.cloudEvent();

        EventId first =
                extractor.extract(record("ce_id", "1", "ce_source", "/orders")).orElseThrow();
        assertThat(extractor.extract(record("ce_id", "1", "ce_source", "/orders")))
                .contains(first);
        assertThat(extractor.extract(record("ce_id", "1", "ce_source", "/billing")))
                .isPresent()
                .isNotEqualTo(Optional.of(first));
        assertThat(extractor.extract(record("ce_id", ID, "ce_source", "/orders")))
                .as("a UUID stands for itself")
                .contains(EventId.of(ID.toString()));
    }

    @Test
    void defaults_deadLettersIdFirst_thenOutboxThenCloudEventThenDebezium() {
        EventIdExtractor extractor = EventIds.ofDefaults();

        assertThat(extractor.extract(record("id", "d", "ce_id", "c", "eventId", "o", DeadLetters.EVENT_ID, "first")))
                .contains(EventId.of("first"));
        assertThat(extractor.extract(record("id", "d", "ce_id", "c", "eventId", "o")))
                .contains(EventId.of("o"));
        assertThat(extractor.extract(record("id", "d", "ce_id", "c"))).contains(EventId.of("c"));
        assertThat(extractor.extract(record("id", "d"))).contains(EventId.of("d"));
        assertThat(extractor.extract(record())).isEmpty();
    }
}
