package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.BucketLease;
import dev.idempotency.spi.LeasedOutboxStore;
import dev.idempotency.spi.LowWaterMark;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.transaction.CommitFailedException;
import dev.idempotency.transaction.JoinedTransaction;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Up to where a relay may believe that it has seen everything, in the schedules that break the obvious rules. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PostgreSqlLowWaterIT {
    private static final Duration LEASE = Duration.ofMinutes(1);

    private final PostgreSqlTestDatabase database = new PostgreSqlTestDatabase();
    private JdbiOutboxStore store;
    private List<BucketLease> leases;

    @BeforeEach
    void connect() {
        OutboxTables.empty(database);
        store = JdbiOutboxStore.of(database.dataSource());
        leases = store.acquire("relay", LEASE, LeasedOutboxStore.SLOTS);
    }

    @AfterAll
    void close() {
        database.close();
    }

    /**
     * The counter-schedule to "everything below the upper bound of an earlier snapshot has ended once the oldest running
     * transaction is above it": a running transaction may have an id above that bound.
     */
    @Test
    void advance_writerAboveTheSnapshotsUpperBound_isNotPassed() throws SQLException {
        try (Connection first = begin();
                Connection between = begin();
                Connection late = begin()) {
            number(first, "SELECT pg_current_xact_id()::text::bigint");
            number(between, "SELECT pg_current_xact_id()::text::bigint");
            long lateId = number(late, "SELECT pg_current_xact_id()::text::bigint");
            OutboxEvent lost = append(late);
            OutboxEvent seen = append(first);
            first.commit();
            assertThat(read()).extracting(OutboxRow::eventId).containsExactly(id(seen));
            long upperBound = number(between, "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint");
            LowWaterMark mark = store.advance(LowWaterMark.unknown());
            between.rollback();
            long oldestRunning = number(between, "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint");
            between.rollback();

            mark = store.advance(store.advance(mark));

            // The schedule bites: by the comparison with the upper bound the late row would now count as impossible.
            assertThat(oldestRunning).isGreaterThan(upperBound).isEqualTo(lateId);
            long lateSequence = sequence(late, lost);
            assertThat(mark.firstLive()).isLessThanOrEqualTo(lateSequence);
            assertThat(mark.visibleBelow()).isLessThanOrEqualTo(lateSequence);
            late.commit();
            assertThat(store.read(leases, new OutboxQuery(mark.firstLive(), 10, Set.of())))
                    .extracting(OutboxRow::eventId)
                    .containsExactly(id(lost), id(seen));
        }
    }

    @Test
    void advance_everybodyHasEnded_passesWhatIsVisible() throws SQLException {
        try (Connection connection = begin()) {
            append(connection);
            connection.commit();
        }
        long seen = read().get(0).sequence();

        LowWaterMark mark = store.advance(store.advance(LowWaterMark.unknown()));

        assertThat(mark.visibleBelow()).isEqualTo(seen + 1);
        assertThat(mark.firstLive()).isEqualTo(seen);
        assertThat(store.advance(mark)).as("at rest").isEqualTo(mark);
    }

    /** Without this the mark's rule does not hold: the writer would have drawn its number and be in no snapshot yet. */
    @Test
    void append_hasItsTransactionIdBeforeItDrawsASequenceNumber() throws Exception {
        ExecutorService threads = Executors.newSingleThreadExecutor();
        try (Connection holder = begin();
                Connection writer = begin();
                Connection observer = begin()) {
            long writerSession = number(writer, "SELECT pg_backend_pid()");
            writer.rollback();
            execute(holder, "ALTER SEQUENCE outbox_event_seq_seq INCREMENT BY 1");
            Future<OutboxEvent> append = threads.submit(() -> append(writer));
            awaitWaiting(observer, writerSession);

            long hasId = number(
                    observer,
                    "SELECT count(*) FROM pg_locks WHERE locktype = 'transactionid' AND mode = 'ExclusiveLock' AND pid = "
                            + writerSession);

            assertThat(hasId)
                    .as("transaction ids of the writer that waits for its number")
                    .isOne();
            holder.rollback();
            append.get(60, TimeUnit.SECONDS);
            writer.commit();
        } finally {
            threads.shutdownNow();
        }
        assertThat(read()).hasSize(1);
    }

    @Test
    void append_commitRefusedByADeferredConstraint_leavesNoEvent() {
        database.execute("CREATE TABLE IF NOT EXISTS parent (id integer PRIMARY KEY)");
        database.execute("CREATE TABLE IF NOT EXISTS child (parent_id integer"
                + " REFERENCES parent DEFERRABLE INITIALLY DEFERRED)");

        assertThatThrownBy(() -> JdbiTransactionRunner.of(database.dataSource())
                        .run(TransactionLimits.ofDefaults(), transaction -> {
                            execute(transaction.unwrap(Connection.class), "INSERT INTO child VALUES (1)");
                            return store.append(transaction, List.of(event()));
                        }))
                .isInstanceOf(CommitFailedException.class);

        assertThat(read()).isEmpty();
    }

    @Test
    void append_autocommit_isRefused() throws SQLException {
        try (Connection connection = database.database().dataSource().getConnection()) {
            connection.setAutoCommit(false);
            JoinedTransaction joined = JoinedTransaction.of(connection);
            connection.setAutoCommit(true);

            assertThatThrownBy(() -> store.append(joined, List.of(event())))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("autocommit");
        }
        assertThat(read()).isEmpty();
    }

    private Connection begin() throws SQLException {
        Connection connection = database.database().dataSource().getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    private OutboxEvent append(Connection connection) throws SQLException {
        OutboxEvent event = event();
        store.append(JoinedTransaction.of(connection), List.of(event));
        return event;
    }

    private static OutboxEvent event() {
        return OutboxEvent.to("orders").eventId(UUID.randomUUID()).key("k").build();
    }

    private static UUID id(OutboxEvent event) {
        return event.eventId().orElseThrow();
    }

    private List<OutboxRow> read() {
        return store.read(leases, new OutboxQuery(0, 100, Set.of()));
    }

    private static long sequence(Connection connection, OutboxEvent event) throws SQLException {
        return number(connection, "SELECT seq FROM outbox_event WHERE event_id = '" + id(event) + "'");
    }

    private static void awaitWaiting(Connection observer, long session) throws SQLException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        String waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid = " + session;
        while (number(observer, waiting) == 0) {
            observer.rollback();
            assertThat(System.nanoTime()).as("deadline").isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    private static long number(Connection connection, String query) throws SQLException {
        return TestDatabase.number(connection, query);
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
