package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.OutboxEvent;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult.Replayable;
import dev.idempotency.Scope;
import dev.idempotency.StoreException;
import dev.idempotency.TransactionLostException;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.spi.Marks;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.transaction.RolledBackException;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What MariaDB does behind one's back, each as a case that was wrong once or would be. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MariaDbTrapsIT {
    private static final TransactionLimits LIMITS = TransactionLimits.ofDefaults();
    private static final Replayable ANSWER = new Replayable(201, new byte[0], new byte[] {1});

    private final MariaDbTestDatabase database = new MariaDbTestDatabase();
    private final JdbiIdempotencyStore store = JdbiIdempotencyStore.of(database.dataSource());
    private final TransactionRunner runner = JdbiTransactionRunner.of(database.dataSource());

    @AfterAll
    void close() {
        database.close();
    }

    /** The server's own type for UUIDs refuses one of 64 of them, and INSERT IGNORE does not say so. */
    @Test
    void mark_idsThatTheServersOwnTypeRefuses_areFreshOnce() {
        JdbiEventStore events = JdbiEventStore.of(database.dataSource());
        ConsumerId consumer = ConsumerId.of("uuids");
        events.register(consumer);
        List<EventId> ids = IntStream.range(0, 256)
                .mapToObj(number -> EventId.of(
                        new UUID(0x0190_0000_0000_7000L + number, 0x8000_0000_0000_0000L + number).toString()))
                .toList();

        assertThat(mark(events, consumer, ids)).containsExactlyInAnyOrderElementsOf(ids);
        assertThat(mark(events, consumer, ids)).isEmpty();
    }

    private Set<EventId> mark(JdbiEventStore events, ConsumerId consumer, List<EventId> ids) {
        return runner.run(LIMITS, transaction -> {
            Marks marks = events.mark(transaction, consumer, ids);
            events.confirm(transaction, marks);
            return marks.fresh();
        });
    }

    /** INSERT IGNORE passes over a row without a partition; its event would be lost as a duplicate. */
    @Test
    void mark_noPartitionForIt_isRefusedAndNotTakenForADuplicate() {
        try (MariaDbTestDatabase partitioned = new MariaDbTestDatabase()) {
            partitioned.execute("ALTER TABLE processed_event PARTITION BY RANGE COLUMNS (event_id)"
                    + " (PARTITION old VALUES LESS THAN (X'01900000000000000000000000000000'))");
            JdbiEventStore events = JdbiEventStore.of(partitioned.dataSource());
            ConsumerId consumer = ConsumerId.of("partitions");
            events.register(consumer);

            assertThatThrownBy(() -> JdbiTransactionRunner.of(partitioned.dataSource())
                            .run(
                                    LIMITS,
                                    transaction -> events.mark(
                                            transaction,
                                            consumer,
                                            List.of(EventId.of("01900000-0000-7000-8000-000000000001")))))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("passed over 1 of the marks of 1 events");
        }
    }

    /** The driver logs each error of the server, and that of a duplicate key has the key in its text. */
    @Test
    void claimAndAppend_ofWhatIsThere_logNoKey() {
        String key = "secret-" + UUID.randomUUID();
        ClaimRequest request = new ClaimRequest(
                new RecordId(Scope.shared("log"), IdempotencyKey.of(key)),
                Fingerprint.none(),
                Duration.ofHours(1),
                AbandonedPolicy.REPORT_UNKNOWN);
        OutboxEvent event =
                OutboxEvent.to("orders").eventId(UUID.randomUUID()).key("k").build();
        JdbiOutboxStore outbox = JdbiOutboxStore.of(database.dataSource());
        PrintStream errors = System.err;
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
        try {
            for (int i = 0; i < 3; i++) {
                runner.run(LIMITS, transaction -> {
                    ClaimOutcome outcome = store.claim(transaction, request);
                    if (outcome instanceof ClaimOutcome.Acquired acquired) {
                        store.complete(transaction, acquired.claim(), ANSWER);
                    }
                    outbox.append(transaction, List.of(event));
                    return true;
                });
                store.claim(request, Duration.ofMinutes(1));
            }
        } finally {
            System.setErr(errors);
        }

        assertThat(written.toString(StandardCharsets.UTF_8)).doesNotContain(key).doesNotContain("Duplicate entry");
    }

    /** DDL commits what came before it. */
    @Test
    void complete_afterDdlOfTheWork_isRefused() {
        ClaimRequest request = TestRequests.fresh();

        assertThatThrownBy(() -> runner.run(LIMITS, transaction -> {
                    ClaimOutcome.Acquired acquired = (ClaimOutcome.Acquired) store.claim(transaction, request);
                    execute(transaction.unwrap(Connection.class), "CREATE TABLE commits_silently (id int)");
                    store.complete(transaction, acquired.claim(), ANSWER);
                    return true;
                }))
                .isInstanceOf(TransactionLostException.class);

        assertThat(store.claim(request, Duration.ofMinutes(1))).isInstanceOf(ClaimOutcome.Abandoned.class);
    }

    /** A statement of the relay's own before it would have decided the isolation. */
    @Test
    void lock_notTheFirstStatementOfItsTransaction_isRefused() {
        JdbiOutboxStore outbox = JdbiOutboxStore.of(database.dataSource());

        assertThatThrownBy(() -> runner.run(LIMITS, transaction -> {
                    execute(transaction.unwrap(Connection.class), "INSERT INTO effect (id) VALUES ('before')");
                    return outbox.lock(transaction, new OutboxQuery(0, 10, Set.of()));
                }))
                .isInstanceOf(StoreException.class)
                .hasStackTraceContaining("25001");
    }

    /** At REPEATABLE READ the locked gap behind the last row would hold up every append. */
    @Test
    void lock_rowsOfTheWholeTable_holdsUpNobodyWhoAppends() {
        JdbiOutboxStore outbox = JdbiOutboxStore.of(database.dataSource());
        append(outbox);

        runner.run(LIMITS, transaction -> {
            assertThat(outbox.lock(transaction, new OutboxQuery(0, 100, Set.of())))
                    .isNotEmpty();
            CompletableFuture<Boolean> append =
                    CompletableFuture.supplyAsync(() -> append(outbox), command -> new Thread(command).start());
            assertThat(append.orTimeout(60, TimeUnit.SECONDS).join()).isTrue();
            return true;
        });
    }

    private boolean append(JdbiOutboxStore outbox) {
        return append(outbox, UUID.randomUUID(), "k");
    }

    private boolean append(JdbiOutboxStore outbox, UUID id, String key) {
        OutboxEvent event = OutboxEvent.to("orders").eventId(id).key(key).build();
        return JdbiTransactionRunner.of(database.dataSource())
                .run(
                        LIMITS,
                        transaction ->
                                outbox.append(transaction, List.of(event)).isEmpty());
    }

    @Test
    void limits_areTheTransactionsAndThenAsBefore() throws SQLException {
        String settings = "SELECT CONCAT_WS(' ', @@innodb_lock_wait_timeout, @@max_statement_time,"
                + " @@idle_transaction_timeout, @@transaction_isolation)";
        String before = text(database.dataSource(), settings);

        String within = runner.run(
                new TransactionLimits(Duration.ofMillis(1234), Duration.ofMillis(2345), Duration.ofMillis(3456)),
                transaction -> text(transaction.unwrap(Connection.class), settings));

        assertThat(within).isEqualTo("2 2.345000 4 REPEATABLE-READ");
        for (int i = 0; i < 20; i++) {
            assertThat(text(database.dataSource(), settings)).isEqualTo(before);
        }
    }

    @Test
    void connect_settingsThatBreakAGuarantee_areRefusedWithTheCure() {
        DataSource lenient = database.database().dataSource(Map.of("sessionVariables", "sql_mode=''"));

        assertThatThrownBy(() -> JdbiIdempotencyStore.of(lenient))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("STRICT_TRANS_TABLES");
        assertThatThrownBy(() -> JdbiOutboxStore.of(lenient)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> JdbiEventStore.of(lenient)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void connect_driverOptionsThatVoidTheProof_areRefused() {
        for (String option : List.of("transactionReplay", "useBulkStmts")) {
            DataSource risky = database.database().dataSource(Map.of(option, "true"));

            assertThatThrownBy(() -> JdbiIdempotencyStore.of(risky))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(option + "=true");
        }
    }

    /** Error 1020 ends the whole transaction, and the server goes on in a new one as if nothing had happened. */
    @Test
    void run_swallowedErrorOfALostSnapshot_isRolledBackAsAWhole() throws SQLException {
        DataSource snapshots =
                database.database().dataSource(Map.of("sessionVariables", "innodb_snapshot_isolation=1"));
        JdbiOutboxStore outbox = JdbiOutboxStore.of(snapshots);
        database.execute("CREATE TABLE stock (id int PRIMARY KEY, pieces int)");
        database.execute("INSERT INTO stock VALUES (1, 10)");
        UUID event = UUID.randomUUID();

        assertThatThrownBy(() -> JdbiTransactionRunner.of(snapshots).run(LIMITS, transaction -> {
                    Connection connection = transaction.unwrap(Connection.class);
                    text(connection, "SELECT pieces FROM stock");
                    execute(connection, "INSERT INTO effect (id) VALUES ('ordered')");
                    database.execute("UPDATE stock SET pieces = 9");
                    try {
                        execute(connection, "UPDATE stock SET pieces = pieces - 1");
                    } catch (SQLException e) {
                        assertThat(e.getErrorCode()).isEqualTo(1020);
                    }
                    outbox.append(
                            transaction,
                            List.of(OutboxEvent.to("orders")
                                    .eventId(event)
                                    .key("k")
                                    .build()));
                    return true;
                }))
                .isInstanceOf(RolledBackException.class);

        assertThat(database.countEffects("ordered")).isZero();
        assertThat(database.count("SELECT COUNT(*) FROM outbox_event WHERE event_id = X'"
                        + event.toString().replace("-", "") + "'"))
                .isZero();
    }

    /** The row of the known id is younger than the transaction's snapshot. */
    @Test
    void append_otherEventUnderAKnownIdBehindTheSnapshot_isRefused() {
        JdbiOutboxStore outbox = JdbiOutboxStore.of(database.dataSource());
        UUID id = UUID.randomUUID();

        assertThatThrownBy(() -> runner.run(LIMITS, transaction -> {
                    text(transaction.unwrap(Connection.class), "SELECT COUNT(*) FROM outbox_event");
                    elsewhere(() -> append(outbox, id, "first"));
                    outbox.append(
                            transaction,
                            List.of(OutboxEvent.to("orders")
                                    .eventId(id)
                                    .key("second")
                                    .build()));
                    return true;
                }))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("another event under this id");
    }

    private static void elsewhere(Runnable work) {
        CompletableFuture.runAsync(work, command -> new Thread(command).start())
                .orTimeout(60, TimeUnit.SECONDS)
                .join();
    }

    private static String text(DataSource dataSource, String query) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            return text(connection, query);
        }
    }

    private static String text(Connection connection, String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getString(1);
        }
    }

    private static void execute(Connection connection, String command) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(command);
        }
    }
}
