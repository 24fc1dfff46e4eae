package dev.idempotency.outbox;

import static org.awaitility.Awaitility.await;

import dev.idempotency.OutboxEvent;
import dev.idempotency.jdbi.JdbiOutboxStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.spi.ClaimingOutboxStore;
import dev.idempotency.spi.LeasedOutboxStore;
import dev.idempotency.spi.LockingOutboxStore;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.testkit.memory.InMemoryPublisher;
import dev.idempotency.testkit.process.Stepped;
import dev.idempotency.testkit.process.Steps;
import dev.idempotency.transaction.TransactionLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import java.util.function.IntSupplier;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * A relay on a real database with a broker in memory; the subjects are in its subclasses, and each of those has one subclass
 * per database.
 */
abstract class RelayScenarios {
    static final Duration DEADLINE = Duration.ofSeconds(60);

    final List<OutboxRelay> relays = new ArrayList<>();
    final InMemoryPublisher publisher = InMemoryPublisher.create(Duration.ofSeconds(4));
    OutboxDatabase database;
    JdbiOutboxStore store;

    abstract OutboxDatabase open();

    /** How a relay takes its events. */
    enum Mode {
        LEASE,
        CLAIM,
        LOCK
    }

    @BeforeEach
    void openDatabase() {
        database = open();
        store = database.store();
    }

    @AfterEach
    void closeAll() throws Exception {
        publisher.recoverBroker();
        publisher.letGo();
        relays.forEach(OutboxRelay::close);
        database.close();
    }

    RelayBuilder<?> builder(Mode mode) {
        return builder(mode, store, database.dataSource());
    }

    RelayBuilder<?> builder(Mode mode, JdbiOutboxStore on, DataSource dataSource) {
        return builder(mode, on, dataSource, any -> {});
    }

    RelayBuilder<?> builder(Mode mode, JdbiOutboxStore on, DataSource dataSource, Steps steps) {
        RelayBuilder<?> builder = switch (mode) {
            case LEASE -> OutboxRelay.leasing(Stepped.outbox(LeasedOutboxStore.class, on, steps), publisher);
            case CLAIM -> OutboxRelay.claiming(Stepped.outbox(ClaimingOutboxStore.class, on, steps), publisher);
            case LOCK ->
                OutboxRelay.locking(
                        Stepped.outbox(LockingOutboxStore.class, on, steps),
                        JdbiTransactionRunner.of(dataSource),
                        publisher);
        };
        return builder.poll(Duration.ofMillis(5), Duration.ofMillis(50))
                .retry(new RetryPolicy(3, Duration.ofMillis(20), Duration.ofMillis(100)));
    }

    OutboxRelay start(RelayBuilder<?> builder) {
        OutboxRelay relay = builder.build();
        relays.add(relay);
        relay.start();
        return relay;
    }

    List<UUID> append(String topic, int events) {
        return append(topic, events, number -> "key-" + number);
    }

    List<UUID> append(String topic, int events, IntFunction<String> key) {
        List<OutboxEvent> batch = new ArrayList<>();
        for (int number = 0; number < events; number++) {
            batch.add(OutboxEvent.to(topic)
                    .key(key.apply(number))
                    .payload(Integer.toString(number))
                    .build());
        }
        return database.runner()
                .run(
                        TransactionLimits.ofDefaults(),
                        transaction -> Outbox.of(store).appendAll(transaction, batch));
    }

    void awaitArrived(int events) {
        await().atMost(DEADLINE).until(() -> publisher.arrived().size() >= events);
    }

    /** Keeps a writer from running away from the relays: it is not their speed that is tested. */
    void awaitRoom(IntSupplier appended, BooleanSupplier writing) {
        await().atMost(DEADLINE)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> !writing.getAsBoolean()
                        || appended.getAsInt() - publisher.arrived().size() < 500);
    }

    List<UUID> arrivedIds() {
        return publisher.arrived().stream().map(OutboxRow::eventId).toList();
    }

    void awaitNothingLeft() {
        await().atMost(DEADLINE).until(() -> database.count("done_at IS NULL") == 0);
    }
}
