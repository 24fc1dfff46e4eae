package dev.idempotency.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.testkit.memory.InMemoryDatabase;
import dev.idempotency.testkit.memory.InMemoryOutboxStore;
import dev.idempotency.transaction.TransactionLimits;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The trace context of the thread that appends goes with the event. */
class OutboxTraceTest {
    private static final String PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    private final InMemoryDatabase database = InMemoryDatabase.create();
    private final InMemoryOutboxStore store = InMemoryOutboxStore.of(database);

    private Map<String, String> appended(Supplier<Map<String, String>> trace, OutboxEvent event) {
        Outbox outbox = Outbox.builder(store).traceContext(trace).build();
        database.run(TransactionLimits.ofDefaults(), transaction -> outbox.append(transaction, event));
        List<OutboxRow> rows = store.claim("test", Duration.ofHours(1), new OutboxQuery(0, 10, Set.of()))
                .rows();
        assertThat(rows).hasSize(1);
        return rows.get(0).event().headers();
    }

    private static OutboxEvent event() {
        return OutboxEvent.to("orders")
                .key("k")
                .partition(3)
                .type("Placed")
                .tenant("acme")
                .orderingKey("o")
                .payload("p")
                .header("own", "1")
                .build();
    }

    @Test
    void traceUnderWay_isCarriedBesideTheEventsOwnHeaders() {
        assertThat(appended(() -> Map.of("traceparent", PARENT, "tracestate", "rojo=00f067", "baggage", "x"), event()))
                .containsExactlyInAnyOrderEntriesOf(
                        Map.of("own", "1", "traceparent", PARENT, "tracestate", "rojo=00f067"));
    }

    @Test
    void nothingElseOfTheEventChanges() {
        OutboxEvent event = event();

        OutboxEvent traced = event.withHeaders(Map.of("traceparent", PARENT, "own", "2"));

        assertThat(traced.headers()).containsEntry("own", "1").containsEntry("traceparent", PARENT);
        assertThat(traced).usingRecursiveComparison().ignoringFields("headers").isEqualTo(event);
    }

    @Test
    void traceOfTheEventsOwn_isKept() {
        String other = PARENT.replace("b7ad", "c7ad");

        assertThat(appended(
                        () -> Map.of("traceparent", PARENT, "tracestate", "rojo=1"),
                        OutboxEvent.to("orders").header("traceparent", other).build()))
                .containsExactlyEntriesOf(Map.of("traceparent", other));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "x",
                "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
            })
    void traceThatIsNotWellFormed_isLeftOut(String parent) {
        assertThat(appended(() -> Map.of("traceparent", parent, "tracestate", "rojo=1"), event()))
                .containsExactlyEntriesOf(Map.of("own", "1"));
    }

    @Test
    void traceThatCannotBeRead_doesNotCostTheTransaction() {
        assertThat(appended(
                        () -> {
                            throw new IllegalStateException("Injected by the test");
                        },
                        event()))
                .containsExactlyEntriesOf(Map.of("own", "1"));
    }

    @Test
    void traceThatDoesNotFit_isLeftOut_andDoesNotCostTheTransaction() {
        OutboxEvent event = event();
        Outbox outbox = Outbox.builder(store)
                .largestEventBytes((int) event.sizeBytes())
                .traceContext(() -> Map.of("traceparent", PARENT))
                .build();

        database.run(TransactionLimits.ofDefaults(), transaction -> outbox.append(transaction, event));

        assertThat(store.claim("test", Duration.ofHours(1), new OutboxQuery(0, 10, Set.of()))
                        .rows())
                .singleElement()
                .satisfies(row -> assertThat(row.event().headers()).containsExactlyEntriesOf(Map.of("own", "1")));
    }

    @Test
    void noTrace_noHeaders() {
        assertThat(appended(Map::of, event())).containsExactlyEntriesOf(Map.of("own", "1"));
    }
}
