package dev.idempotency.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idempotency.OutboxEvent;
import dev.idempotency.SchemaException;
import dev.idempotency.StoreException;
import dev.idempotency.jdbi.JdbiOutboxStore;
import dev.idempotency.testkit.memory.InMemoryPublisher;
import dev.idempotency.transaction.JoinedTransaction;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an outbox makes of bad input; each row of the table in the module's page is a test here. */
class OutboxBadInputTest {
    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private OutboxDatabase database;
    private JdbiOutboxStore store;

    @BeforeEach
    void open() {
        database = OutboxDatabase.h2();
        store = database.store();
    }

    @AfterEach
    void close() throws Exception {
        database.close();
    }

    private UUID append(Outbox outbox, OutboxEvent event) {
        return database.runner().run(TransactionLimits.ofDefaults(), transaction -> outbox.append(transaction, event));
    }

    private void assertNothingWritten() {
        assertThat(database.count("1 = 1")).isZero();
    }

    @Test
    void noKey_orderIsKept_isRefused() {
        Outbox outbox = Outbox.builder(store).ordering(Ordering.KEY).build();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> append(outbox, OutboxEvent.to("orders").build()))
                .withMessageContaining("has no key");
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        append(outbox, OutboxEvent.to("orders").orderingKey("o").build()))
                .withMessageContaining("partition");
        assertNothingWritten();
        append(outbox, OutboxEvent.to("orders").orderingKey("o").partition(0).build());
    }

    @Test
    void eventOverTheLimit_isRefused() {
        Outbox outbox = Outbox.builder(store).largestEventBytes(1_000).build();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> append(
                        outbox,
                        OutboxEvent.to("orders").payload(new byte[1_001]).build()))
                .withMessageContaining("at most 1000")
                .withMessageContaining("largestEventBytes");
        assertNothingWritten();
    }

    @Test
    @SuppressWarnings("NullAway")
    void headerThatIsNullOrNoText_isRefused() {
        OutboxEvent.Builder event = OutboxEvent.to("orders");

        assertThatNullPointerException().isThrownBy(() -> event.header("name", null));
        assertThatNullPointerException().isThrownBy(() -> event.header(null, "value"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> event.header("name", "half a pair \uD83D"))
                .withMessageContaining("surrogate");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> event.header(OutboxEvent.EVENT_ID_HEADER, "mine"))
                .withMessageContaining("written by the outbox itself");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "..", "a b", "a/b", "Käse"})
    void topicThatABrokerRefuses_isRefused(String topic) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> OutboxEvent.to(topic))
                .withMessageContaining("broker would refuse");
        assertThatIllegalArgumentException().isThrownBy(() -> OutboxEvent.to("a".repeat(250)));
    }

    @Test
    void idThatIsThereAlready_sameEventIsPassedOver_anotherIsRefused() {
        UUID id = UUID.randomUUID();
        OutboxEvent event = OutboxEvent.to("orders").eventId(id).payload("1").build();
        append(Outbox.of(store), event);

        assertThat(append(Outbox.of(store), event)).isEqualTo(id);

        assertThat(database.count("1 = 1")).isOne();
        assertThatThrownBy(() -> append(
                        Outbox.of(store),
                        OutboxEvent.to("orders").eventId(id).payload("2").build()))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("an id of its own");
        assertThat(database.count("1 = 1")).isOne();
    }

    @Test
    void idTwiceInOneCall_isRefused() {
        OutboxEvent event = OutboxEvent.to("orders").eventId(UUID.randomUUID()).build();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> database.runner()
                        .run(
                                TransactionLimits.ofDefaults(),
                                transaction -> Outbox.of(store).appendAll(transaction, List.of(event, event))));
        assertNothingWritten();
    }

    @Test
    void appendOutsideATransaction_isRefused() throws SQLException {
        try (Connection connection = database.dataSource().getConnection()) {
            connection.setAutoCommit(true);

            assertThatIllegalStateException()
                    .isThrownBy(() -> Outbox.of(store)
                            .append(
                                    JoinedTransaction.of(connection),
                                    OutboxEvent.to("orders").build()))
                    .withMessageContaining("autocommit");
        }
        assertNothingWritten();
    }

    @Test
    void tableOfAnotherVersion_isRefusedAtStart_withTheCure() {
        database.execute("ALTER TABLE outbox_event DROP COLUMN tenant_id");

        assertThatThrownBy(() -> database.store())
                .isInstanceOf(SchemaException.class)
                .hasMessageContaining("tenant_id");
    }

    /** The database's clock decides what is due; the process's only goes into the ids it draws. */
    @ParameterizedTest
    @ValueSource(longs = {-10, 10})
    void clockOfTheInstanceIsOff_changesNothing(long minutes) {
        InstantSource wrong = () -> Instant.now().plus(Duration.ofMinutes(minutes));
        Outbox outbox = Outbox.builder(store).clock(wrong).build();
        UUID later = append(
                outbox, OutboxEvent.to("orders").delay(Duration.ofMinutes(5)).build());
        UUID now = append(outbox, OutboxEvent.to("orders").build());
        InMemoryPublisher publisher = InMemoryPublisher.create();
        try (OutboxRelay relay = OutboxRelay.leasing(store, publisher).build()) {
            relay.start();
            await().atMost(DEADLINE).until(() -> !publisher.arrived().isEmpty());
        }

        assertThat(publisher.arrived()).hasSize(1);
        assertThat(publisher.arrived().get(0).eventId()).isEqualTo(now).isNotEqualTo(later);
    }
}
