package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.event.Delivery;
import dev.idempotency.event.EventHandler;
import dev.idempotency.event.EventProcessor;
import dev.idempotency.event.PartitionDeliveries;
import dev.idempotency.event.ProcessingFailure;
import dev.idempotency.event.ProcessingResult;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.PartitionAssignment;
import dev.idempotency.testkit.fault.Fault;
import dev.idempotency.testkit.fault.FaultInjectingDataSource;
import dev.idempotency.testkit.fault.JdbcPoint;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whose fault it is when the database ends a handler's transaction, statement or session. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class PostgreSqlEventBlameIT {
    private static final TransactionLimits LIMITS = TransactionLimits.ofDefaults()
            .withLockWait(Duration.ofMillis(200))
            .withStatement(Duration.ofMillis(800))
            .withIdle(Duration.ofMillis(300));

    private final PostgreSqlTestDatabase database = new PostgreSqlTestDatabase();
    private final FaultInjectingDataSource faults = FaultInjectingDataSource.wrap(database.dataSource());
    private final JdbiEventStore store = JdbiEventStore.of(faults);
    private final ConsumerId consumer = ConsumerId.of("billing");
    private final EventPartition partition = new EventPartition("orders", UUID.randomUUID(), 0);

    @AfterEach
    void close() {
        database.close();
    }

    private static Connection connection(Transaction transaction) {
        return transaction.unwrap(Connection.class);
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static long backend(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT pg_backend_pid()")) {
            rows.next();
            return rows.getLong(1);
        }
    }

    /** Waits, without a statement in the transaction, until the server has ended its session. */
    private void outlastTheIdleLimit(Transaction transaction) throws SQLException {
        long backend = backend(connection(transaction));
        Awaitility.await().until(() -> !isAlive(backend));
    }

    private boolean isAlive(long backend) throws SQLException {
        try (Connection other = database.dataSource().getConnection();
                Statement statement = other.createStatement();
                ResultSet rows = statement.executeQuery("SELECT 1 FROM pg_stat_activity WHERE pid = " + backend)) {
            return rows.next();
        }
    }

    private ProcessingResult<String> process(EventHandler<String> handler, String... events) {
        return process(() -> {}, handler, events);
    }

    private ProcessingResult<String> process(Runnable onceAssigned, EventHandler<String> handler, String... events) {
        EventProcessor<String> processor = EventProcessor.<String>builder()
                .consumer(consumer)
                .store(store)
                .transactions(JdbiTransactionRunner.of(faults))
                .limits(LIMITS)
                .maxConflicts(2)
                .handler(TransactionScope.PER_BATCH, (event, context) -> {
                    database.addEffect(context.transaction(), event);
                    handler.handle(event, context);
                })
                .build();
        PartitionAssignment assignment =
                processor.assign(List.of(partition), "test").get(0);
        onceAssigned.run();
        List<Delivery<String>> deliveries = new ArrayList<>();
        for (int i = 0; i < events.length; i++) {
            deliveries.add(new Delivery<>(EventId.of(events[i]), i, 1, events[i]));
        }
        return processor.process(List.of(new PartitionDeliveries<>(assignment, deliveries, events.length)), () -> true);
    }

    private void assertBlamed(ProcessingResult<String> result, String event) {
        assertThat(result.failures())
                .singleElement()
                .isInstanceOfSatisfying(
                        ProcessingFailure.HandlerFailed.class,
                        failed -> assertThat(failed.delivery().event()).isEqualTo(event));
        assertThat(database.countEffects(event)).isZero();
    }

    private void assertUnavailable(ProcessingResult<String> result) {
        assertThat(result.failures()).singleElement().isInstanceOf(ProcessingFailure.Unavailable.class);
        assertThat(result.progress()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"returns", "goes on", "swallows"})
    void handlerOutlastsTheIdleLimit_isThatEventsFailure(String then) {
        ProcessingResult<String> result = process(
                (event, context) -> {
                    if (event.equals("slow")) {
                        outlastTheIdleLimit(context.transaction());
                        if (!then.equals("returns")) {
                            try {
                                execute(connection(context.transaction()), "SELECT 1");
                            } catch (SQLException e) {
                                if (then.equals("goes on")) {
                                    throw e;
                                }
                            }
                        }
                    }
                },
                "a",
                "slow",
                "b");

        assertBlamed(result, "slow");
        assertThat(result.progress()).containsEntry(partition, 1L);
    }

    /** Where the server's reason is lost on the way, the handler's own duration tells. */
    @Test
    void sessionEndsAfterTheHandlerRanLongerThanTheIdleLimit_isThatEventsFailure() {
        ProcessingResult<String> result = process(
                (event, context) -> {
                    execute(connection(context.transaction()), "SELECT pg_sleep(0.5)");
                    execute(connection(context.transaction()), "SELECT pg_terminate_backend(pg_backend_pid())");
                },
                "slow");

        assertBlamed(result, "slow");
    }

    @Test
    void statementOfTheHandlerTimesOut_isThatEventsFailure() {
        ProcessingResult<String> result = process(
                (event, context) -> {
                    if (event.equals("slow")) {
                        execute(connection(context.transaction()), "SELECT pg_sleep(30)");
                    }
                },
                "a",
                "slow");

        assertBlamed(result, "slow");
    }

    @Test
    void lockIsNotGivenInTime_isNobodysFault() throws SQLException {
        database.execute("CREATE TABLE account (id int PRIMARY KEY)");
        try (Connection other = database.dataSource().getConnection()) {
            other.setAutoCommit(false);
            execute(other, "LOCK TABLE account");

            ProcessingResult<String> result = process(
                    (event, context) -> execute(connection(context.transaction()), "INSERT INTO account VALUES (1)"),
                    "a");

            assertThat(result.failures()).singleElement().isInstanceOf(ProcessingFailure.Contended.class);
            other.rollback();
        }
    }

    @Test
    void deadlock_isNobodysFaultAndRunAgain() {
        int[] runs = {0};
        ProcessingResult<String> result = process(
                (event, context) -> {
                    runs[0]++;
                    if (runs[0] == 1) {
                        execute(connection(context.transaction()), "DO $$ BEGIN RAISE deadlock_detected; END $$");
                    }
                },
                "a");

        assertThat(result.failures()).isEmpty();
        assertThat(database.countEffects("a")).isEqualTo(1);
    }

    /** It may be poison, or somebody ended the session: the event is found, and whoever counts may forgive some. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void handlerEndsItsSessionAndTheDatabaseAnswers_isThatEventsLoss(boolean swallowed) {
        ProcessingResult<String> result = process(
                (event, context) -> {
                    if (event.equals("poison")) {
                        try {
                            execute(connection(context.transaction()), "SELECT pg_terminate_backend(pg_backend_pid())");
                        } catch (SQLException e) {
                            if (!swallowed) {
                                throw e;
                            }
                        }
                    }
                },
                "a",
                "poison",
                "b");

        assertThat(result.progress()).containsEntry(partition, 1L);
        assertThat(result.failures())
                .singleElement()
                .isInstanceOfSatisfying(
                        ProcessingFailure.ConnectionLost.class,
                        lost -> assertThat(lost.delivery().event()).isEqualTo("poison"));
    }

    @Test
    void sessionEndsAndTheDatabaseRefusesConnections_isNobodysFault() {
        ProcessingResult<String> result = process(
                (event, context) -> {
                    faults.inject(JdbcPoint.BEFORE_CONNECT, Fault.error("08001"));
                    execute(connection(context.transaction()), "SELECT pg_terminate_backend(pg_backend_pid())");
                },
                "a",
                "b");

        assertUnavailable(result);
    }

    @Test
    void noConnectionIsToBeHad_isNobodysFault() {
        EventHandler<String> never = (event, context) -> {
            throw new AssertionError("must not run");
        };
        assertUnavailable(process(() -> faults.inject(JdbcPoint.BEFORE_CONNECT, Fault.error("57P03")), never, "a"));
        assertThat(faults.allFaultsStruck()).isTrue();
    }

    /** Another database that the handler needs and that is down is no reason to park the event. */
    @Test
    void otherSystemOfTheHandlerIsUnavailable_isNobodysFault() {
        ProcessingResult<String> result = process(
                (event, context) -> {
                    throw new SQLException("the other database refuses connections", "08001");
                },
                "a",
                "b");

        assertUnavailable(result);
    }
}
