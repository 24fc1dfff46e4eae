package dev.idempotency.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.OutboxEvent;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.spi.ClaimingOutboxStore;
import dev.idempotency.spi.LeasedOutboxStore;
import dev.idempotency.spi.LockingOutboxStore;
import dev.idempotency.spi.OutboxClaim;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.testkit.memory.InMemoryPublisher;
import dev.idempotency.transaction.TransactionLimits;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Large events come in pages that the relay can hold, and all of them come. */
class RelayPagesTest {
    private static final Duration DEADLINE = Duration.ofSeconds(60);
    private static final int EVENTS = 120;
    private static final int EVENT_BYTES = 100_000;
    private static final long BUDGET = 1_000_000;

    private final OutboxDatabase database = OutboxDatabase.h2();
    private final InMemoryPublisher publisher = InMemoryPublisher.create(Duration.ofSeconds(4));
    private final AtomicLong largestPage = new AtomicLong();

    @AfterEach
    void close() throws Exception {
        database.close();
    }

    @ParameterizedTest
    @EnumSource
    void largeEvents_comeInPagesWithinTheBudget_andAllOfThem(RelayScenarios.Mode mode) {
        for (int i = 0; i < EVENTS; i++) {
            OutboxEvent event = OutboxEvent.to("orders")
                    .key("key-" + i % 5)
                    .payload(new byte[EVENT_BYTES])
                    .build();
            database.runner()
                    .run(
                            TransactionLimits.ofDefaults(),
                            transaction -> Outbox.of(database.store()).append(transaction, event));
        }
        try (OutboxRelay relay = builder(mode).maxInFlight(1_000, BUDGET).build()) {
            relay.start();

            await().atMost(DEADLINE).until(() -> database.count("done_at IS NULL") == 0);
        }
        List<UUID> arrived =
                publisher.arrived().stream().map(OutboxRow::eventId).toList();
        assertThat(arrived).hasSize(EVENTS).doesNotHaveDuplicates();
        // What is on its way already may be read once more, on a database that knows no low-water mark.
        assertThat(largestPage.get()).isBetween(BUDGET / 2, 2 * BUDGET + EVENT_BYTES);
    }

    private RelayBuilder<?> builder(RelayScenarios.Mode mode) {
        return switch (mode) {
            case LEASE -> OutboxRelay.leasing(watched(LeasedOutboxStore.class), publisher);
            case CLAIM -> OutboxRelay.claiming(watched(ClaimingOutboxStore.class), publisher);
            case LOCK ->
                OutboxRelay.locking(
                        watched(LockingOutboxStore.class), JdbiTransactionRunner.of(database.dataSource()), publisher);
        };
    }

    private <S> S watched(Class<S> ability) {
        Object store = database.store();
        return ability.cast(Proxy.newProxyInstance(
                ability.getClassLoader(), new Class<?>[] {ability}, (proxy, method, arguments) -> {
                    try {
                        Object answer = method.invoke(store, arguments);
                        if (answer instanceof OutboxClaim claim) {
                            measure(claim.rows());
                        } else if (answer instanceof List<?> rows) {
                            measure(rows);
                        }
                        return answer;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    private void measure(List<?> rows) {
        long bytes = rows.stream()
                .filter(OutboxRow.class::isInstance)
                .mapToLong(row -> Pages.payloadBytes((OutboxRow) row))
                .sum();
        largestPage.accumulateAndGet(bytes, Math::max);
    }
}
