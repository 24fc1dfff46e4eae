package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.StoreConflictException;
import dev.idempotency.TransactionLostException;
import dev.idempotency.event.Deduplication;
import dev.idempotency.event.Delivery;
import dev.idempotency.event.EventHandler;
import dev.idempotency.event.EventProcessor;
import dev.idempotency.event.PartitionDeliveries;
import dev.idempotency.event.ProcessingFailure;
import dev.idempotency.event.ProcessingResult;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.PartitionAssignment;
import dev.idempotency.transaction.TransactionRunner;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Handlers that return as if nothing had happened although their transaction is dead: on a database, with the guarded
 * runner and with one that trusts the handler, so that the store's own last statement is tested too.
 */
abstract class EventCounterSchedules {
    final TestDatabase database;
    final ConsumerId consumer = ConsumerId.of("swallowing");
    final EventPartition partition = new EventPartition("orders", UUID.randomUUID(), 0);
    private final JdbiEventStore store;

    EventCounterSchedules(TestDatabase database) {
        this.database = database;
        this.store = JdbiEventStore.of(database.dataSource());
        store.register(consumer);
    }

    @AfterEach
    void close() {
        database.close();
    }

    /** Prepares what the transaction will meet. */
    void beforeTransaction() {}

    /** Writes the effect, makes the server end or fail the transaction, and swallows what it hears of that. */
    abstract void effectThenSwallowedFailure(Connection connection, String effect) throws SQLException;

    static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private EventProcessor<String> processor(
            TransactionRunner runner, Deduplication deduplication, EventHandler<String> handler) {
        return EventProcessor.<String>builder()
                .consumer(consumer)
                .store(store)
                .transactions(runner)
                .deduplication(deduplication)
                .maxConflicts(1)
                .handler(TransactionScope.PER_BATCH, handler)
                .build();
    }

    private ProcessingResult<String> processOne(EventProcessor<String> processor, EventId id) {
        PartitionAssignment assignment =
                processor.assign(List.of(partition), "test").get(0);
        return processor.process(
                List.of(new PartitionDeliveries<>(assignment, List.of(new Delivery<>(id, 0, 1, "event")), 1)),
                () -> true);
    }

    private ProcessingResult<String> processSwallowing(
            TransactionRunner runner, Deduplication deduplication, EventId id) {
        beforeTransaction();
        return processOne(
                processor(
                        runner,
                        deduplication,
                        (event, context) ->
                                effectThenSwallowedFailure(context.transaction().unwrap(Connection.class), "effect")),
                id);
    }

    private void assertNothingAdvanced(ProcessingResult<String> result, EventId id) {
        assertThat(result.progress()).isEmpty();
        assertThat(result.handled()).isZero();
        assertThat(result.failures()).hasSize(1);
        assertThat(database.countEffects("effect")).isZero();
        assertThat(store.assign(consumer, List.of(partition), "test").get(0).nextOffset())
                .isNull();
        EventProcessor<String> honest = processor(
                JdbiTransactionRunner.of(database.dataSource()),
                Deduplication.EVENT_ID_AND_OFFSET,
                (event, context) -> database.addEffect(context.transaction(), "effect"));
        assertThat(processOne(honest, id).handled())
                .as("the event is handled when it comes again")
                .isEqualTo(1);
        assertThat(database.countEffects("effect")).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void swallowedFailure_guardedRunner_nothingIsAdvanced(Deduplication deduplication) {
        EventId id = EventId.of(UUID.randomUUID());

        assertNothingAdvanced(
                processSwallowing(JdbiTransactionRunner.of(database.dataSource()), deduplication, id), id);
    }

    @ParameterizedTest
    @EnumSource
    void swallowedFailure_runnerThatTrustsTheHandler_theLastStatementNotices(Deduplication deduplication) {
        EventId id = EventId.of(UUID.randomUUID());

        ProcessingResult<String> result = processSwallowing(new Unguarded(database.dataSource()), deduplication, id);

        assertThat(result.failures().get(0))
                .isInstanceOfSatisfying(
                        ProcessingFailure.HandlerFailed.class,
                        failed -> assertThat(failed.cause()).isInstanceOf(TransactionLostException.class));
        assertNothingAdvanced(result, id);
    }

    /** A lock that is not given in time is nobody's fault, also when the handler hides it. */
    @Test
    void conflictOutOfTheHandler_isNotTheEventsFault() {
        EventId id = EventId.of(UUID.randomUUID());

        ProcessingResult<String> result = processOne(
                processor(
                        JdbiTransactionRunner.of(database.dataSource()),
                        Deduplication.EVENT_ID_AND_OFFSET,
                        (event, context) -> {
                            throw new StoreConflictException("from the handler", null);
                        }),
                id);

        assertThat(result.failures().get(0)).isInstanceOf(ProcessingFailure.Contended.class);
    }
}
