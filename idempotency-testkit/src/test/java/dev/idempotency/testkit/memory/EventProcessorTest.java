package dev.idempotency.testkit.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.StoreConflictException;
import dev.idempotency.StoreUnavailableException;
import dev.idempotency.event.Delivery;
import dev.idempotency.event.Event;
import dev.idempotency.event.EventHandler;
import dev.idempotency.event.EventProcessor;
import dev.idempotency.event.FailedEventException;
import dev.idempotency.event.PartitionDeliveries;
import dev.idempotency.event.ProcessingFailure;
import dev.idempotency.event.ProcessingResult;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.PartitionAssignment;
import dev.idempotency.transaction.Transaction;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class EventProcessorTest {
    private final InMemoryDatabase database = InMemoryDatabase.create();
    private final InMemoryEventStore store = InMemoryEventStore.of(database);
    private final ConsumerId consumer = ConsumerId.of("billing");
    private final UUID topicId = UUID.randomUUID();
    private final EventPartition first = new EventPartition("orders", topicId, 0);
    private final EventPartition second = new EventPartition("orders", topicId, 1);
    /** What is committed, in its order. */
    private final List<String> effects = new ArrayList<>();

    private int runs;

    private void effect(Transaction transaction, String event) {
        runs++;
        transaction.unwrap(InMemoryTransaction.class).write(() -> effects.add(event));
    }

    private EventProcessor.Builder<String> builder() {
        return EventProcessor.<String>builder().consumer(consumer).store(store).transactions(database);
    }

    private EventProcessor<String> perBatch(EventHandler<String> before) {
        return builder()
                .handler(TransactionScope.PER_BATCH, (event, context) -> {
                    before.handle(event, context);
                    effect(context.transaction(), event);
                })
                .build();
    }

    private PartitionAssignment assign(EventProcessor<String> processor, EventPartition partition) {
        return processor.assign(List.of(partition), "test").get(0);
    }

    /** Events named as given, at offsets from 0; equal names are the same event. */
    private static PartitionDeliveries<String> deliveries(PartitionAssignment assignment, String... events) {
        List<Delivery<String>> deliveries = new ArrayList<>();
        for (int i = 0; i < events.length; i++) {
            deliveries.add(new Delivery<>(EventId.of(events[i]), i, 1, events[i]));
        }
        return new PartitionDeliveries<>(assignment, deliveries, events.length);
    }

    private ProcessingResult<String> process(EventProcessor<String> processor, String... events) {
        return processor.process(List.of(deliveries(assign(processor, first), events)), () -> true);
    }

    private static void failOn(String bad, String event) {
        if (event.equals(bad)) {
            throw new IllegalArgumentException("bad event");
        }
    }

    @Test
    void process_allWell_isOneTransactionForAll() {
        ProcessingResult<String> result = process(perBatch((event, context) -> {}), "a", "b", "c");

        assertThat(effects).containsExactly("a", "b", "c");
        assertThat(result).isEqualTo(new ProcessingResult<String>(Map.of(first, 3L), 3, 0, List.of()));
    }

    @Test
    void process_sameEventTwiceInTheBatch_runsTheFirst() {
        ProcessingResult<String> result = process(perBatch((event, context) -> {}), "a", "b", "a");

        assertThat(effects).containsExactly("a", "b");
        assertThat(result.duplicates()).isEqualTo(1);
        assertThat(result.progress()).containsEntry(first, 3L);
    }

    @Test
    void process_oneEventFails_commitsThoseBeforeItAndTheOtherPartition() {
        EventProcessor<String> processor = perBatch((event, context) -> failOn("c", event));

        ProcessingResult<String> result = processor.process(
                List.of(
                        deliveries(assign(processor, first), "a", "b", "c", "d"),
                        deliveries(assign(processor, second), "x", "y")),
                () -> true);

        assertThat(effects).containsExactly("a", "b", "x", "y");
        assertThat(result.progress()).containsEntry(first, 2L).containsEntry(second, 2L);
        assertThat(result.failures())
                .singleElement()
                .isInstanceOfSatisfying(ProcessingFailure.HandlerFailed.class, failed -> {
                    assertThat(failed.delivery().offset()).isEqualTo(2);
                    assertThat(failed.next()).isEqualTo(3);
                    assertThat(failed.cause()).hasMessage("bad event");
                });
    }

    /** Thrown on, it would end the consumer that has the event, and then the next one. */
    @Test
    void process_handlerThrowsAnError_isTheEventsFault() {
        EventProcessor<String> processor = perBatch((event, context) -> {
            if (event.equals("c")) {
                throw new StackOverflowError("nested too deep");
            }
        });

        ProcessingResult<String> result = process(processor, "a", "b", "c", "d");

        assertThat(effects).containsExactly("a", "b");
        assertThat(result.failures())
                .singleElement()
                .isInstanceOfSatisfying(
                        ProcessingFailure.HandlerFailed.class,
                        failed -> assertThat(failed.cause()).hasRootCauseInstanceOf(StackOverflowError.class));
    }

    @Test
    void process_batchHandlerFailsWithoutAName_findsTheEvent() {
        EventProcessor<String> processor = builder()
                .batchHandler((events, transaction) -> {
                    for (Event<String> event : events) {
                        failOn("d", event.payload());
                        effect(transaction, event.payload());
                    }
                })
                .build();

        ProcessingResult<String> result = process(processor, "a", "b", "c", "d", "e");

        assertThat(effects).containsExactly("a", "b", "c");
        assertThat(result.progress()).containsEntry(first, 3L);
        assertThat(result.failures()).singleElement().isInstanceOf(ProcessingFailure.HandlerFailed.class);
    }

    @Test
    void process_batchHandlerNamesTheEvent_isNotSearched() {
        EventProcessor<String> processor = builder()
                .batchHandler((events, transaction) -> {
                    for (Event<String> event : events) {
                        if (event.payload().equals("d")) {
                            throw new FailedEventException(event, new IllegalArgumentException("bad event"));
                        }
                        effect(transaction, event.payload());
                    }
                })
                .build();

        process(processor, "a", "b", "c", "d", "e");

        assertThat(effects).containsExactly("a", "b", "c");
        assertThat(runs).as("once in the batch, once without the bad event").isEqualTo(6);
    }

    @Test
    void process_perEvent_eachHasItsTransaction() {
        EventProcessor<String> processor = builder()
                .handler(TransactionScope.PER_EVENT, (event, context) -> {
                    failOn("c", event);
                    effect(context.transaction(), event);
                })
                .build();

        ProcessingResult<String> result = process(processor, "a", "b", "c", "d");

        assertThat(effects).containsExactly("a", "b");
        assertThat(runs).as("no event is run a second time").isEqualTo(2);
        assertThat(result.progress()).containsEntry(first, 2L);
    }

    @Test
    void process_askedToStop_endsBetweenTransactions() {
        EventProcessor<String> processor = builder()
                .handler(TransactionScope.PER_EVENT, (event, context) -> effect(context.transaction(), event))
                .build();

        ProcessingResult<String> result = processor.process(
                List.of(deliveries(assign(processor, first), "a", "b", "c")), () -> effects.size() < 2);

        assertThat(effects).containsExactly("a", "b");
        assertThat(result.progress()).containsEntry(first, 2L);
        assertThat(result.failures()).isEmpty();
    }

    @Test
    void process_conflicts_areRetriedAndDoNotCount() {
        int[] conflicts = {2};
        ProcessingResult<String> result = process(
                perBatch((event, context) -> {
                    if (conflicts[0]-- > 0) {
                        throw new StoreConflictException("deadlock", null);
                    }
                }),
                "a",
                "b");

        assertThat(effects).containsExactly("a", "b");
        assertThat(result.failures()).isEmpty();
    }

    @Test
    void process_infrastructureFails_blamesNoEvent() {
        ProcessingResult<String> result = process(
                perBatch((event, context) -> {
                    throw new StoreUnavailableException("no database", null);
                }),
                "a",
                "b");

        assertThat(effects).isEmpty();
        assertThat(result.progress()).isEmpty();
        assertThat(result.failures()).singleElement().isInstanceOf(ProcessingFailure.Unavailable.class);
    }

    @Test
    void process_fencedPartition_otherPartitionsGoOn() {
        EventProcessor<String> processor = perBatch((event, context) -> {});
        PartitionAssignment zombie = assign(processor, first);
        assign(processor, first);

        ProcessingResult<String> result = processor.process(
                List.of(deliveries(zombie, "a"), deliveries(assign(processor, second), "x")), () -> true);

        assertThat(effects).containsExactly("x");
        assertThat(result.failures())
                .singleElement()
                .isInstanceOfSatisfying(
                        ProcessingFailure.Fenced.class,
                        fenced -> assertThat(fenced).isEqualTo(new ProcessingFailure.Fenced<String>(Set.of(first))));
    }

    @Test
    void process_commitUnknown_saysSoAndTheNextAssignmentTells() {
        for (boolean committed : new boolean[] {true, false}) {
            String event = "committed " + committed;
            EventProcessor<String> losing = EventProcessor.<String>builder()
                    .consumer(consumer)
                    .store(store)
                    .transactions(database.losingTheCommit(committed))
                    .handler(TransactionScope.PER_BATCH, (handled, context) -> effect(context.transaction(), handled))
                    .build();
            PartitionAssignment before = assign(losing, first);

            ProcessingResult<String> result = losing.process(
                    List.of(new PartitionDeliveries<>(
                            before, List.of(new Delivery<>(EventId.of(event), 7, 1, event)), 8)),
                    () -> true);

            assertThat(result.progress()).isEmpty();
            assertThat(result.failures()).singleElement().isInstanceOf(ProcessingFailure.CommitUnknown.class);
            Long next = assign(losing, first).nextOffset();
            assertThat(next).isEqualTo(8L);
            assertThat(effects).containsExactly("committed true");
        }
    }

    @Test
    void process_handlerMarksForRollback_isAFailureOfThatEvent() {
        ProcessingResult<String> result = process(
                perBatch((event, context) -> {
                    if (event.equals("b")) {
                        context.transaction().setRollbackOnly();
                    }
                }),
                "a",
                "b",
                "c");

        assertThat(effects).containsExactly("a");
        assertThat(result.progress()).containsEntry(first, 1L);
        assertThat(result.failures()).singleElement().isInstanceOf(ProcessingFailure.HandlerFailed.class);
    }

    private PartitionAssignment suspect(EventProcessor<String> processor, EventPartition partition) {
        assign(processor, partition);
        PartitionAssignment suspect = assign(processor, partition);
        assertThat(suspect.suspect()).isTrue();
        return suspect;
    }

    @Test
    void process_suspectPartition_eachEventStandsAloneBehindTheOthersAndIsCountedBefore() {
        List<String> transactions = new ArrayList<>();
        EventProcessor<String> processor = builder()
                .batchHandler((events, transaction) -> transactions.add(
                        events.stream().map(Event::payload).toList().toString()))
                .build();
        PartitionAssignment suspect = suspect(processor, first);

        ProcessingResult<String> result = processor.process(
                List.of(deliveries(suspect, "a", "b"), deliveries(assign(processor, second), "x", "y")), () -> true);

        assertThat(transactions).containsExactly("[x, y]", "[a]", "[b]");
        assertThat(result.progress()).containsEntry(first, 2L).containsEntry(second, 2L);
        assertThat(store.start(consumer, suspect, 1)).as("the last was counted").hasValue(1);
    }

    /** As after a crash: the start is there, and nothing came of it. */
    @Test
    void process_eventWasStartedTooOften_isNotRunAgainAndHoldsItsPartitionAlone() {
        EventProcessor<String> processor = builder()
                .maxStarts(2)
                .handler(TransactionScope.PER_BATCH, (event, context) -> effect(context.transaction(), event))
                .build();
        for (int crash = 1; crash <= 2; crash++) {
            store.start(consumer, assign(processor, first), 0);
        }

        ProcessingResult<String> result = processor.process(
                List.of(
                        deliveries(assign(processor, first), "deadly", "b"),
                        deliveries(assign(processor, second), "x")),
                () -> true);

        assertThat(effects).containsExactly("x");
        assertThat(result.failures())
                .singleElement()
                .isInstanceOfSatisfying(ProcessingFailure.StartedTooOften.class, started -> {
                    assertThat(started.delivery().offset()).isZero();
                    assertThat(started.next()).isEqualTo(1);
                    assertThat(started.starts()).isEqualTo(2);
                });
    }

    /** A process that sees the attempt fail is alive: other processes must not take the event for a deadly one. */
    @Test
    void process_suspectEventFails_isNotCountedOn() {
        EventProcessor<String> processor = perBatch((event, context) -> failOn("a", event));

        for (int owner = 1; owner <= 5; owner++) {
            ProcessingResult<String> result =
                    processor.process(List.of(deliveries(suspect(processor, first), "a")), () -> true);

            assertThat(result.failures()).singleElement().isInstanceOf(ProcessingFailure.HandlerFailed.class);
        }
    }

    /** An outage of what the handler needs, and an owner after the other: none of them was ended by the event. */
    @Test
    void process_suspectEventMeetsAnOutage_isNotCountedOn() {
        EventProcessor<String> processor = perBatch((event, context) -> {
            throw new StoreUnavailableException("what the handler needs is down", new IOException("refused"));
        });

        for (int owner = 1; owner <= 5; owner++) {
            ProcessingResult<String> result =
                    processor.process(List.of(deliveries(suspect(processor, first), "a")), () -> true);

            assertThat(result.failures()).singleElement().isInstanceOf(ProcessingFailure.Unavailable.class);
        }
    }

    /** As above, of locks that others hold. */
    @Test
    void process_suspectEventLosesAgainstOthers_isNotCountedOn() {
        EventProcessor<String> processor = perBatch((event, context) -> {
            throw new StoreConflictException("others hold the row", null);
        });

        for (int owner = 1; owner <= 5; owner++) {
            ProcessingResult<String> result =
                    processor.process(List.of(deliveries(suspect(processor, first), "a")), () -> true);

            assertThat(result.failures()).singleElement().isInstanceOf(ProcessingFailure.Contended.class);
        }
    }

    @Test
    void process_suspectPartitionTakenOver_isFencedBeforeAnythingRuns() {
        EventProcessor<String> processor = perBatch((event, context) -> {});
        PartitionAssignment zombie = suspect(processor, first);
        assign(processor, first);

        ProcessingResult<String> result = processor.process(List.of(deliveries(zombie, "a")), () -> true);

        assertThat(runs).isZero();
        assertThat(result.failures()).singleElement().isInstanceOf(ProcessingFailure.Fenced.class);
    }
}
