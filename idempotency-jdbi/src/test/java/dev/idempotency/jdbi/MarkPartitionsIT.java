package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.StoreConflictException;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Marks divided by the time in their ids: what stays, what goes, and who waits for whom. */
class MarkPartitionsIT {
    private static final ConsumerId CONSUMER = ConsumerId.of("billing");
    private static final Duration AGE = Duration.ofDays(7);

    private final PostgreSqlTestDatabase database = new PostgreSqlTestDatabase();
    private final JdbiEventStore store = JdbiEventStore.of(database.dataSource());
    private final JdbiTransactionRunner runner = JdbiTransactionRunner.of(database.dataSource());
    private final MarkPartitions partitions = MarkPartitions.of(database.dataSource());

    MarkPartitionsIT() {
        store.register(CONSUMER);
    }

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    void install_marksThatAreThere_areKeptAndAgainUnique() {
        List<EventId> ids = List.of(
                idOf(Duration.ZERO),
                idOf(Duration.ofDays(400)),
                EventId.of(UUID.randomUUID()),
                EventId.of(new UUID(0, 1)),
                EventId.of("a text"));
        assertThat(mark(ids)).hasSize(ids.size());

        partitions.install();
        partitions.install();

        assertThat(mark(ids)).isEmpty();
        assertThat(strings("SELECT count(*) FROM processed_event")).containsExactly("5");
        JdbiEventStore.of(database.dataSource());
    }

    /** The pool's transactions have one snapshot, and it would be older than the lock on the table. */
    @Test
    void install_marksThatAreCommittedWhileItWaits_areKept() {
        PostgreSqlTestDatabase isolated =
                new PostgreSqlTestDatabase(config -> config.setTransactionIsolation("TRANSACTION_REPEATABLE_READ"));
        try (isolated) {
            JdbiEventStore events = JdbiEventStore.of(isolated.dataSource());
            JdbiTransactionRunner transactions = JdbiTransactionRunner.of(isolated.dataSource());
            events.register(CONSUMER);
            EventId id = idOf(Duration.ZERO);
            Thread installing =
                    new Thread(() -> MarkPartitions.of(isolated.dataSource()).install());
            transactions.run(TransactionLimits.ofDefaults(), transaction -> {
                events.mark(transaction, CONSUMER, List.of(id));
                installing.start();
                await().atMost(Duration.ofSeconds(30))
                        .until(() -> strings(
                                        isolated,
                                        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND"
                                                + " datname = current_database() AND query LIKE 'LOCK TABLE%'")
                                .equals(List.of("1")));
                return id;
            });
            await().atMost(Duration.ofSeconds(30)).until(() -> !installing.isAlive());

            assertThat(strings(isolated, "SELECT relkind FROM pg_class WHERE relname = 'processed_event'"))
                    .as("divided")
                    .containsExactly("p");
            assertThat(transactions
                            .run(
                                    TransactionLimits.ofDefaults(),
                                    transaction -> events.mark(transaction, CONSUMER, List.of(id)))
                            .fresh())
                    .isEmpty();
        }
    }

    @Test
    void install_makesPartitionsAhead_andIdsOfTheseDaysAreInThem() {
        partitions.install();

        for (int day = -2; day <= 0; day++) {
            EventId id = idOf(Duration.ofDays(day));
            mark(List.of(id));
            assertThat(partitionOf(id)).startsWith("processed_event_t");
        }
        assertThat(strings("SELECT count(*) FROM processed_event_after")).containsExactly("0");
    }

    @Test
    void maintain_whenDaysHavePassed_makesTheNextOnesAndMovesWhatWasAhead() {
        EventId ahead = idOf(Duration.ofDays(-20));
        partitions.install();
        mark(List.of(ahead));
        assertThat(partitionOf(ahead)).isEqualTo("processed_event_after");

        MarkPartitions.of(database.dataSource(), Duration.ofDays(10)).maintain(AGE);

        assertThat(partitionOf(ahead)).startsWith("processed_event_t");
        assertThat(mark(List.of(ahead))).as("still a duplicate").isEmpty();
    }

    @Test
    void maintain_dropsWhatIsOldThroughout_andAnOldIdStillFindsAPlace() {
        installThreeWeeksAgo();
        EventId old = idOf(Duration.ofDays(30));
        EventId present = idOf(Duration.ZERO);
        mark(List.of(old));
        passTime(Duration.ofDays(10));
        mark(List.of(present));
        String partition = partitionOf(old);

        assertThat(partitions.maintain(AGE)).isEqualTo(1);

        assertThat(strings("SELECT relname FROM pg_class WHERE relkind = 'r'")).doesNotContain(partition);
        assertThat(mark(List.of(present))).isEmpty();
        assertThat(mark(List.of(old)))
                .as("its mark is gone, as it would be without partitions")
                .hasSize(1);
        assertThat(partitionOf(old)).isEqualTo("processed_event_before");
        assertThat(mark(List.of(old))).isEmpty();
    }

    @Test
    void maintain_oldEventThatWasProcessedLate_keepsItsPartition() {
        installThreeWeeksAgo();
        EventId older = idOf(Duration.ofDays(30));
        EventId late = idOf(Duration.ofDays(29));
        mark(List.of(older));
        passTime(Duration.ofDays(10));
        mark(List.of(late));

        assertThat(partitions.maintain(AGE)).isZero();

        assertThat(mark(List.of(late))).as("younger than the age").isEmpty();
        assertThat(store.deleteMarks(AGE, 100))
                .as("what is older goes one by one")
                .isEqualTo(1);
        assertThat(mark(List.of(late))).isEmpty();
    }

    @Test
    void maintain_youngerThanTheAgeByTheirIds_isNotDropped() {
        installThreeWeeksAgo();
        mark(List.of(idOf(Duration.ofDays(-1))));
        passTime(Duration.ofDays(10));

        assertThat(partitions.maintain(AGE)).as("the empty past alone").isEqualTo(1);
        assertThat(strings("SELECT count(*) FROM processed_event")).containsExactly("1");
    }

    @Test
    void deleteMarks_inSeveralPartitions_takesTheOldOnlyAlsoOfTheSamePlaceInTheirTables() {
        partitions.install();
        // The first row of each partition has the same ctid.
        List<EventId> old = List.of(idOf(Duration.ZERO), EventId.of("a text"));
        mark(old);
        passTime(Duration.ofDays(10));
        EventId young = idOf(Duration.ofDays(30));
        mark(List.of(young));

        assertThat(store.deleteMarks(AGE, 100)).isEqualTo(2);
        assertThat(mark(List.of(young))).isEmpty();
        assertThat(mark(old)).hasSize(2);
    }

    @Test
    void maintain_whileAConsumerHasMarkedAndNotCommitted_givesUpSoonAndHurtsNobody() {
        installThreeWeeksAgo();
        EventId id = idOf(Duration.ofDays(30));
        mark(List.of(idOf(Duration.ofDays(31))));
        passTime(Duration.ofDays(10));

        runner.run(TransactionLimits.ofDefaults(), transaction -> {
            store.mark(transaction, CONSUMER, List.of(EventId.of("in hand")));
            assertThatExceptionOfType(StoreConflictException.class).isThrownBy(() -> partitionsElsewhere());
            return store.mark(transaction, CONSUMER, List.of(id)).fresh().size();
        });

        assertThat(mark(List.of(id)))
                .as("the consumer's transaction was committed")
                .isEmpty();
        assertThat(partitions.maintain(AGE)).as("the mark in it is young now").isZero();
        assertThat(mark(List.of(id))).isEmpty();
    }

    private void partitionsElsewhere() {
        MarkPartitionsIT.elsewhere(() -> partitions.maintain(AGE));
    }

    @Test
    void maintain_whileAnotherProcessIsAtIt_leavesItToThat() throws SQLException {
        installThreeWeeksAgo();
        mark(List.of(idOf(Duration.ofDays(30))));
        passTime(Duration.ofDays(10));

        try (Connection other = database.dataSource().getConnection();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute(new MarkPartitionsSql(TableNames.ofDefaults()).tryLock());
            assertThat(partitions.maintain(AGE)).isZero();
            other.rollback();
        }
        assertThat(partitions.maintain(AGE)).isEqualTo(1);
    }

    @Test
    void of_badOptions_areRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> MarkPartitions.of(database.dataSource(), Duration.ofSeconds(90)))
                .withMessageContaining("width");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> partitions.maintain(Duration.ofSeconds(59)))
                .withMessageContaining("age");
        try (H2TestDatabase h2 = new H2TestDatabase()) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> MarkPartitions.of(h2.dataSource()))
                    .withMessageContaining("PostgreSQL");
        }
    }

    // ---- what the tests stand on

    /** On another thread: this one is inside a transaction. */
    private static void elsewhere(Runnable action) {
        List<RuntimeException> thrown = new ArrayList<>();
        Thread thread = new Thread(() -> {
            try {
                action.run();
            } catch (RuntimeException e) {
                thrown.add(e);
            }
        });
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (!thrown.isEmpty()) {
            throw thrown.get(0);
        }
    }

    /** The past, which is one partition after the installation, becomes two: as if the installation were weeks old. */
    private void installThreeWeeksAgo() {
        partitions.install();
        String past = strings("""
                SELECT c.relname
                FROM pg_inherits i
                JOIN pg_class c ON c.oid = i.inhrelid
                WHERE i.inhparent = 'processed_event'::regclass
                AND c.relname LIKE 'processed_event_t%'
                ORDER BY 1
                """).get(0);
        String begin = upper("processed_event_before");
        String end = upper(past);
        String weeksAgo =
                new UUID((System.currentTimeMillis() - Duration.ofDays(21).toMillis()) << 16, 0).toString();
        database.execute("ALTER TABLE processed_event DETACH PARTITION " + past);
        database.execute("ALTER TABLE processed_event ATTACH PARTITION " + past + " FOR VALUES FROM ('" + begin
                + "') TO ('" + weeksAgo + "')");
        database.execute("CREATE TABLE processed_event_t_weeks PARTITION OF processed_event FOR VALUES FROM ('"
                + weeksAgo + "') TO ('" + end + "')");
    }

    private String upper(String partition) {
        return strings(
                        "SELECT substring(pg_get_expr(relpartbound, oid) from 'TO \\(''([^'']+)') FROM pg_class WHERE relname = '"
                                + partition + "'")
                .get(0);
    }

    private Set<EventId> mark(List<EventId> ids) {
        return runner.run(
                TransactionLimits.ofDefaults(),
                transaction -> store.mark(transaction, CONSUMER, ids).fresh());
    }

    private void passTime(Duration duration) {
        new SqlEvents(database).passTime(duration);
    }

    /** A time-ordered id (UUIDv7) from so long ago. */
    private static EventId idOf(Duration ago) {
        long millis = System.currentTimeMillis() - ago.toMillis();
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return EventId.of(new UUID(
                (millis << 16) | 0x7000 | random.nextInt(0x1000),
                0x8000000000000000L | (random.nextLong() & 0x3fffffffffffffffL)));
    }

    private String partitionOf(EventId id) {
        return strings("SELECT CAST(tableoid AS regclass) FROM processed_event WHERE event_id = '"
                        + StoredEventIds.of(id) + "'")
                .get(0);
    }

    private List<String> strings(String query) {
        return strings(database, query);
    }

    private static List<String> strings(PostgreSqlTestDatabase where, String query) {
        try (Connection connection = where.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            List<String> found = new ArrayList<>();
            while (rows.next()) {
                found.add(rows.getString(1));
            }
            return found;
        } catch (SQLException e) {
            throw new IllegalStateException(query, e);
        }
    }
}
