package dev.idempotency.testkit.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.StoreConflictException;
import dev.idempotency.TransactionLostException;
import dev.idempotency.event.EventContext;
import dev.idempotency.event.ProcessedEvents;
import dev.idempotency.transaction.OutcomeUnknownException;
import dev.idempotency.transaction.TransactionLimits;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A listener of any broker, or of none: messages with an id that may come more than once. */
class ProcessedEventsTest {
    private static final EventId ID = EventId.of("message-1");

    private final InMemoryDatabase database = InMemoryDatabase.create();
    private final InMemoryEventStore store = InMemoryEventStore.of(database);
    private final ProcessedEvents events = ProcessedEvents.of(store, ConsumerId.of("mail"));
    private final List<String> effects = new ArrayList<>();

    private void effect(EventContext context) {
        context.transaction()
                .unwrap(InMemoryTransaction.class)
                .write(() -> effects.add(context.eventId().value()));
    }

    @Test
    void processOnce_repeatedMessage_runsOnce() {
        assertThat(events.processOnce(database, ID, this::effect)).isTrue();
        assertThat(events.processOnce(database, ID, this::effect)).isFalse();

        assertThat(effects).containsExactly("message-1");
    }

    @Test
    void processOnce_otherConsumer_runsForItself() {
        events.processOnce(database, ID, this::effect);

        assertThat(ProcessedEvents.of(store, ConsumerId.of("search")).processOnce(database, ID, this::effect))
                .isTrue();
    }

    @Test
    void processOnce_workFails_passesItsExceptionAndRunsWithTheNextDelivery() {
        assertThatThrownBy(() -> events.processOnce(database, ID, context -> {
                    effect(context);
                    throw new IOException("mail server is away");
                }))
                .isInstanceOf(IOException.class)
                .hasMessage("mail server is away");
        assertThat(effects).isEmpty();

        assertThat(events.processOnce(database, ID, this::effect)).isTrue();
    }

    @Test
    void processOnce_lostRace_runsAgainWithTheSameDerivedKey() {
        List<IdempotencyKey> keys = new ArrayList<>();
        List<Integer> attempts = new ArrayList<>();

        boolean ran = events.processOnce(database, ID, context -> {
            keys.add(context.derive("send"));
            attempts.add(context.attempt());
            if (attempts.size() < 3) {
                throw new StoreConflictException("deadlock", null);
            }
            effect(context);
        });

        assertThat(ran).isTrue();
        assertThat(attempts).containsExactly(1, 2, 3);
        assertThat(Set.copyOf(keys)).hasSize(1);
        assertThat(effects).hasSize(1);
    }

    @Test
    void processOnce_losesEveryRace_saysSo() {
        int[] runs = {0};

        assertThatThrownBy(() -> ProcessedEvents.builder()
                        .store(store)
                        .consumer(ConsumerId.of("mail"))
                        .maxAttempts(2)
                        .build()
                        .processOnce(database, ID, context -> {
                            runs[0]++;
                            throw new StoreConflictException("deadlock", null);
                        }))
                .isInstanceOf(StoreConflictException.class);

        assertThat(runs[0]).isEqualTo(2);
    }

    @Test
    void processOnce_commitUnknown_isSaidAndTheNextDeliveryFindsOut() {
        for (boolean committed : new boolean[] {true, false}) {
            EventId id = EventId.of("committed " + committed);
            assertThatThrownBy(() -> events.processOnce(database.losingTheCommit(committed), id, this::effect))
                    .isInstanceOf(OutcomeUnknownException.class);

            assertThat(events.processOnce(database, id, this::effect)).isEqualTo(!committed);
        }
        assertThat(effects).containsExactly("committed true", "committed false");
    }

    @Test
    void processOnce_transactionDiesUnderTheWork_leavesNothing() {
        assertThatThrownBy(() -> events.processOnce(database, ID, context -> {
                    effect(context);
                    database.kill(context.transaction().unwrap(InMemoryTransaction.class));
                }))
                .isInstanceOf(TransactionLostException.class);

        assertThat(effects).isEmpty();
        assertThat(events.processOnce(database, ID, this::effect)).isTrue();
    }

    @Test
    void claim_inTheListenersOwnTransaction_tellsTheFreshOnes() {
        EventId other = EventId.of("message-2");
        events.processOnce(database, ID, this::effect);

        Set<EventId> fresh = database.run(
                TransactionLimits.ofDefaults(), transaction -> events.claim(transaction, List.of(ID, other)));

        assertThat(fresh).containsExactly(other);
        assertThat(database.<Boolean, RuntimeException>run(
                        TransactionLimits.ofDefaults(), transaction -> events.claim(transaction, other)))
                .as("claimed by the first transaction")
                .isFalse();
    }
}
