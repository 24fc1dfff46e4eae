package dev.idempotency.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import dev.idempotency.spi.OutboxPublisher;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.PublishCallback;
import dev.idempotency.testkit.memory.InMemoryPublisher;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What holds for rows that are claimed, or locked, one by one. One subclass per database. */
abstract class ClaimAndLockScenarios extends RelayScenarios {
    @Test
    void lock_longDeliveriesOrLargeBatches_areRefused() {
        InMemoryPublisher slow = InMemoryPublisher.create(Duration.ofMillis(10_001));

        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        OutboxRelay.locking(store, database.runner(), slow).build())
                .withMessageContaining("PT10.001S")
                .withMessageContaining("Shorten");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> OutboxRelay.locking(store, database.runner(), publisher)
                        .batchSize(1_001)
                        .build())
                .withMessageContaining("1001");
    }

    /** Neither a lease nor a clock is involved: what ends the transaction frees the rows. */
    @Test
    void lock_transactionIsKilledWhileItsRowsAreSent_othersTakeThemAtOnce() {
        append("orders", 10);
        publisher.hold();
        OutboxRelay victim = start(builder(Mode.LOCK));
        await().atMost(DEADLINE).until(() -> publisher.held() == 10);
        start(builder(Mode.LOCK));

        database.killSessions();

        await().atMost(DEADLINE).until(() -> publisher.held() >= 20);
        publisher.letGo();
        awaitNothingLeft();
        await().atMost(DEADLINE).until(() -> victim.statistics().failedPasses() >= 1);
        assertThat(new HashSet<>(arrivedIds())).hasSize(10);
        assertThat(database.count("attempts > 0 OR status <> 'PUBLISHED'")).isZero();
    }

    @Test
    void lock_answerDoesNotCome_theOthersAreMarked() {
        InMemoryPublisher silent = InMemoryPublisher.create(Duration.ofMillis(200));
        List<UUID> ids = append("orders", 5);
        AtomicInteger calls = new AtomicInteger();
        OutboxPublisher forgetful = new OutboxPublisher() {
            @Override
            public void publish(OutboxRow row, PublishCallback callback) {
                if (!row.eventId().equals(ids.get(2)) || calls.incrementAndGet() > 1) {
                    silent.publish(row, callback);
                }
            }

            @Override
            public Duration deliveryTimeout() {
                return silent.deliveryTimeout();
            }

            @Override
            public void recover() {}

            @Override
            public void close() {}
        };

        start(OutboxRelay.locking(store, database.runner(), forgetful));

        awaitNothingLeft();
        assertThat(silent.arrived()).hasSize(5);
        assertThat(silent.arrived().get(4).eventId()).isEqualTo(ids.get(2));
    }

    @Test
    void claim_crashedRelay_rowsAreTakenOnceTheLeaseHasEnded() {
        append("orders", 10);
        store.claim("crashed", Duration.ofSeconds(2), new OutboxQuery(0, 4, Set.of()));

        start(builder(Mode.CLAIM));

        awaitArrived(6);
        awaitArrived(10);
        awaitNothingLeft();
        assertThat(database.count("crashes = 1 AND attempts = 0")).isEqualTo(4);
    }
}
