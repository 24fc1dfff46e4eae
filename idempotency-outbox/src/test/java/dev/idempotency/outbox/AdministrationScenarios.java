package dev.idempotency.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.spi.OutboxEntry;
import dev.idempotency.spi.OutboxFilter;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.PublishOutcome;
import dev.idempotency.spi.PublishOutcome.Kind;
import dev.idempotency.testkit.memory.InMemoryPublisher;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What operators do by hand, and the clean-up by itself, while relays run. One subclass per database. */
abstract class AdministrationScenarios extends RelayScenarios {
    /** The relay has left the rows' numbers behind long ago. */
    @ParameterizedTest
    @EnumSource
    void requeuedByHand_isPublishedByARunningRelay(Mode mode) {
        List<UUID> ids = append("orders", 5, number -> "key");
        publisher.failWith(Kind.RECORD);
        OutboxRelay relay = start(builder(mode).retry(new RetryPolicy(1, Duration.ofMillis(1), Duration.ofMillis(1))));
        await().atMost(DEADLINE).until(() -> database.count("status = 'DEAD'") == 5);
        publisher.recoverBroker();
        append("orders", 20);
        awaitArrived(20);
        awaitNothingLeft();

        OutboxAdministration administration = OutboxAdministration.of(store);
        assertThat(administration.requeue(OutboxFilter.ofTopics("orders"))).isEqualTo(5);

        awaitArrived(25);
        assertThat(arrivedIds().subList(20, 25)).containsExactlyInAnyOrderElementsOf(ids);
        awaitNothingLeft();
        assertThat(administration.discard(OutboxFilter.all())).isZero();
        assertThat(administration.backlog().atMost()).isZero();
        assertThat(relay.statistics().dead()).isEqualTo(5);
    }

    @Test
    void skippedByHand_letsItsKeyGoOn() {
        List<UUID> ids = append("orders", 3, number -> "key");
        publisher.answer(row -> row.eventId().equals(ids.get(0))
                ? InMemoryPublisher.failed(Kind.RECORD)
                : new PublishOutcome.Published());
        start(builder(Mode.LEASE).retry(new RetryPolicy(5, Duration.ofHours(1), Duration.ofHours(1))));
        await().atMost(DEADLINE).until(() -> database.count("attempts = 1") == 1);
        OutboxAdministration administration = OutboxAdministration.of(store);
        assertThat(administration.find(OutboxEntry.Status.PENDING, OutboxFilter.all(), 10))
                .hasSize(3);

        assertThat(administration.skip(OutboxFilter.ofEvents(ids.get(0)), "wrong address"))
                .isOne();

        awaitArrived(2);
        assertThat(arrivedIds()).containsExactlyElementsOf(ids.subList(1, 3));
    }

    @Test
    void claimsReleasedByHand_areTakenByOthersAtOnce() {
        append("orders", 3);
        store.claim("gone", Duration.ofHours(1), new OutboxQuery(0, 3, Set.of()));
        start(builder(Mode.CLAIM));

        assertThat(OutboxAdministration.of(store).releaseClaims("gone")).isEqualTo(3);

        awaitArrived(3);
    }

    @Test
    void cleanUp_returnsStuckRowsAndDeletesOldOnes() throws InterruptedException {
        append("orders", 10);
        store.claim("crashed", Duration.ofSeconds(1), new OutboxQuery(0, 4, Set.of()));
        OutboxCleanUp cleanUp = OutboxCleanUp.builder(store)
                .interval(Duration.ofMillis(20))
                .retention(Duration.ofMillis(1))
                .build();
        try (cleanUp) {
            cleanUp.start();
            await().atMost(DEADLINE).until(() -> database.count("status = 'PENDING'") == 10);
            assertThat(database.count("crashes = 1")).isEqualTo(4);

            start(builder(Mode.CLAIM));

            await().atMost(DEADLINE).until(() -> database.count("1 = 1") == 0);
        }
        assertThat(publisher.arrived()).hasSize(10);
    }
}
