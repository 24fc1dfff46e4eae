package dev.idempotency.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.OutboxEvent;
import dev.idempotency.StoreUnavailableException;
import dev.idempotency.jdbi.JdbiOutboxStore;
import dev.idempotency.spi.ClaimingOutboxStore;
import dev.idempotency.testkit.memory.InMemoryPublisher;
import dev.idempotency.testkit.process.Stepped;
import dev.idempotency.testkit.process.Steps;
import dev.idempotency.transaction.TransactionLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What belongs to the claims of rows alone. */
class ClaimRelayTest {
    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private final OutboxDatabase database = OutboxDatabase.h2();
    private final InMemoryPublisher publisher = InMemoryPublisher.create(Duration.ofSeconds(4));

    @AfterEach
    void close() throws Exception {
        database.close();
    }

    /**
     * The database was away for longer than a claim lasts: the relay finds its own rows free again, and takes them, before
     * the mark is tried again or while it is on its way.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void claimEndsBeforeTheMark_rowsAreMarkedUnderTheLaterClaim_andNotSentAgain(boolean fails) {
        AtomicBoolean away = new AtomicBoolean(true);
        Steps steps = step -> {
            if (step.equals("outbox.marking") && away.getAndSet(false)) {
                database.execute("UPDATE outbox_event SET locked_until = TIMESTAMP '2000-01-01 00:00:00'");
                await().atMost(DEADLINE).until(() -> database.count("locked_until > CURRENT_TIMESTAMP") == 3);
                if (fails) {
                    throw new StoreUnavailableException("The database was away", new IllegalStateException());
                }
            }
        };
        JdbiOutboxStore store = database.store();
        OutboxEvent event = OutboxEvent.to("orders").payload("content").build();
        database.runner()
                .run(
                        TransactionLimits.ofDefaults(),
                        transaction -> Outbox.of(store).appendAll(transaction, List.of(event, event, event)));
        OutboxRelay relay = OutboxRelay.claiming(Stepped.outbox(ClaimingOutboxStore.class, store, steps), publisher)
                .lease(Duration.ofHours(1))
                .poll(Duration.ofMillis(5), Duration.ofMillis(50))
                .build();
        try (relay) {
            relay.start();
            await().atMost(DEADLINE).until(() -> database.count("status = 'PUBLISHED'") == 3);
        }
        assertThat(publisher.arrived()).hasSize(3);
        assertThat(relay.statistics().fenced()).isZero();
    }
}
