package dev.idempotency.event;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.EventHeader;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.LowWaterMark;
import dev.idempotency.spi.OutboxStore;
import dev.idempotency.spi.ParkedEvent;
import dev.idempotency.transaction.TransactionContext;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

@SuppressWarnings("NullAway") // what a record's array may be is not read from class files by older compilers
class DeadLettersTest {
    private static final ConsumerId CONSUMER = ConsumerId.of("billing");
    private static final EventPartition PARTITION = new EventPartition("orders", UUID.randomUUID(), 3);

    private final DeadLetters deadLetters = DeadLetters.to("orders.dead", new NoOutbox());

    private static ParkedEvent parked(long offset, byte @Nullable [] value, int attempts, EventHeader... headers) {
        return new ParkedEvent(
                EventId.of("event-7"),
                PARTITION,
                offset,
                "key".getBytes(UTF_8),
                value,
                List.of(headers),
                Instant.EPOCH,
                attempts,
                "java.lang.IllegalStateException: no\nmore \0 room");
    }

    private static EventHeader header(String name, String value) {
        return new EventHeader(name, value.getBytes(UTF_8));
    }

    @Test
    void deadLetter_keepsKeyValueHeadersAndTheEventsId() {
        OutboxEvent letter = deadLetters.deadLetter(
                CONSUMER, parked(7, new byte[] {1, 2}, 5, header("eventId", "event-7"), header("colour", "blau ü")));

        assertThat(letter.topic()).isEqualTo("orders.dead");
        assertThat(letter.key())
                .hasValueSatisfying(key -> assertThat(key).asString(UTF_8).isEqualTo("key"));
        assertThat(letter.payload())
                .hasValueSatisfying(value -> assertThat(value).containsExactly(1, 2));
        assertThat(letter.headers())
                .containsEntry("colour", "blau ü")
                .containsEntry(DeadLetters.EVENT_ID, "event-7")
                .containsEntry(DeadLetters.CONSUMER, "billing")
                .containsEntry(DeadLetters.POSITION, "orders/3/7")
                .containsEntry(DeadLetters.ATTEMPTS, "5")
                .containsEntry(DeadLetters.HOPS, "1")
                .containsEntry(DeadLetters.REASON, "java.lang.IllegalStateException: no more   room");
    }

    /** A dead letter that cannot be written would hold up the whole consumer: parking is its last resort. */
    @Test
    void deadLetter_textThatIsCutOrUnfit_isWrittenAllTheSame() {
        ParkedEvent event = parked(
                7,
                null,
                1,
                new EventHeader("c1 \u0085", new byte[] {1}),
                new EventHeader("a".repeat(238) + "\uD83D\uDE00", new byte[] {1}));
        ParkedEvent reasoned = new ParkedEvent(
                event.id(),
                event.partition(),
                event.offset(),
                null,
                null,
                event.headers(),
                event.timestamp(),
                1,
                "r".repeat(499) + "\uD83D\uDE00");

        Map<String, String> headers = deadLetters.deadLetter(CONSUMER, reasoned).headers();

        assertThat(headers)
                .containsEntry(DeadLetters.REASON, "r".repeat(499))
                .containsKeys("base64:c1 ?", "base64:" + "a".repeat(238));
    }

    @Test
    void deadLetter_ofATombstone_isATombstone() {
        assertThat(deadLetters.deadLetter(CONSUMER, parked(7, null, 1)).payload())
                .isEmpty();
    }

    @Test
    void deadLetter_idIsDerivedFromConsumerEventAndPlace() {
        UUID id = deadLetters.deadLetter(CONSUMER, parked(7, null, 1)).eventId().orElseThrow();

        assertThat(deadLetters.deadLetter(CONSUMER, parked(7, null, 4)).eventId())
                .as("the same place again, after other attempts")
                .contains(id);
        assertThat(deadLetters.deadLetter(CONSUMER, parked(8, null, 1)).eventId())
                .as("another place")
                .isNotEqualTo(id);
        assertThat(deadLetters
                        .deadLetter(ConsumerId.of("shipping"), parked(7, null, 1))
                        .eventId())
                .as("another consumer")
                .isNotEqualTo(id);
    }

    @Test
    void deadLetter_typeAndTenantOfTheOutbox_areKeptAsTheyWere() {
        OutboxEvent letter = deadLetters.deadLetter(
                CONSUMER, parked(7, null, 1, header("eventType", "OrderPlaced"), header("tenantId", "acme")));

        assertThat(letter.type()).contains("OrderPlaced");
        assertThat(letter.tenant()).contains("acme");
    }

    @Test
    void deadLetter_headersTheOutboxCannotCarry_areKeptEncoded() {
        byte[] binary = {(byte) 0xff, 0, 7};
        OutboxEvent letter = deadLetters.deadLetter(
                CONSUMER,
                parked(
                        7,
                        null,
                        1,
                        new EventHeader("trace", binary),
                        header("colour", "blue"),
                        header("colour", "red"),
                        new EventHeader("nothing", null),
                        header("outboxSource", "orders-db"),
                        header("bad\nname", "x")));

        assertThat(letter.headers())
                .containsEntry("base64:trace", Base64.getEncoder().encodeToString(binary))
                .containsEntry("colour", "blue")
                .containsEntry("base64:colour#2", Base64.getEncoder().encodeToString("red".getBytes(UTF_8)))
                .containsEntry("null:nothing", "")
                .containsEntry("base64:outboxSource", Base64.getEncoder().encodeToString("orders-db".getBytes(UTF_8)))
                .containsEntry("base64:bad?name", Base64.getEncoder().encodeToString("x".getBytes(UTF_8)));
    }

    /** What the first hop wrote comes back as the second one's headers. */
    @Test
    void deadLetter_secondHop_replacesWhatTheFirstSaidAndKeepsTheFirstId() {
        Map<String, String> first = deadLetters
                .deadLetter(CONSUMER, parked(7, null, 1, header("colour", "blue")))
                .headers();
        List<EventHeader> headers = new ArrayList<>();
        first.forEach((name, value) -> headers.add(header(name, value)));
        headers.add(header("eventId", UUID.randomUUID().toString()));

        Map<String, String> second = deadLetters
                .deadLetter(CONSUMER, parked(99, null, 2, headers.toArray(EventHeader[]::new)))
                .headers();

        assertThat(second).containsOnlyKeys(first.keySet());
        assertThat(second)
                .containsEntry(DeadLetters.EVENT_ID, "event-7")
                .containsEntry(DeadLetters.POSITION, "orders/3/99")
                .containsEntry(DeadLetters.ATTEMPTS, "2")
                .containsEntry(DeadLetters.HOPS, "2");
    }

    @Test
    void deadLetter_hostileNumbers_areClamped() {
        for (Map.Entry<String, String> hops : Map.of(
                        "99999999999", "1000", "-5", "1", "none", "1", "99999999999999999999999", "1")
                .entrySet()) {
            OutboxEvent letter = deadLetters.deadLetter(
                    CONSUMER, parked(7, null, Integer.MAX_VALUE, header(DeadLetters.HOPS, hops.getKey())));

            assertThat(letter.headers())
                    .as("hops %s", hops.getKey())
                    .containsEntry(DeadLetters.HOPS, hops.getValue())
                    .containsEntry(DeadLetters.ATTEMPTS, "1000000");
        }
    }

    private static final class NoOutbox implements OutboxStore {
        @Override
        public Set<UUID> append(TransactionContext transaction, List<OutboxEvent> events) {
            throw new AssertionError("must not be called");
        }

        @Override
        public LowWaterMark advance(LowWaterMark mark) {
            throw new AssertionError("must not be called");
        }

        @Override
        public int deletePublished(Duration age, int limit) {
            throw new AssertionError("must not be called");
        }
    }
}
