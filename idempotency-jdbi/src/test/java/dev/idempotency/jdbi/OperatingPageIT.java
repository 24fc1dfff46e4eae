package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.OutboxEvent;
import dev.idempotency.RecordedResult;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.LowWaterMark;
import dev.idempotency.spi.Marks;
import dev.idempotency.spi.OutboxClaim;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.ParkedEvent;
import dev.idempotency.spi.PublishedRows;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.postgresql.ds.PGSimpleDataSource;

/** The statements of the operator's page, run on what they are meant to find. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OperatingPageIT {
    private static final Path PAGE = Path.of("..", "docs", "operating.md");
    private static final Pattern STATEMENT =
            Pattern.compile("<!-- run: ([a-z ]+) -->\\R```sql\\R(.*?)```", Pattern.DOTALL);
    private static final Duration LONG = Duration.ofHours(1);

    private final Map<String, String> statements = new LinkedHashMap<>();
    private PostgreSqlTestDatabase database;

    @BeforeAll
    void read() throws IOException {
        Matcher found = STATEMENT.matcher(Files.readString(PAGE));
        while (found.find()) {
            statements.put(found.group(1), found.group(2));
        }
        database = new PostgreSqlTestDatabase();
    }

    @AfterAll
    void close() {
        database.close();
    }

    @Test
    void everyStatement_isFollowedByATestOfIt() {
        assertThat(statements)
                .containsOnlyKeys(
                        "records of a key",
                        "transactions that hold a key",
                        "abandoned operations",
                        "forget an abandoned operation",
                        "stuck claims of the outbox",
                        "unleased buckets",
                        "oldest waiting event",
                        "dead events of the outbox",
                        "parked events",
                        "consumers",
                        "growth",
                        "oldest snapshots",
                        "privileges");
    }

    @Test
    void everyColumn_isExplained() throws IOException {
        String page = Files.readString(PAGE);
        List<String> missing = new ArrayList<>();
        for (Map<String, String> column : query("""
                SELECT table_name AS table, column_name AS column
                FROM information_schema.columns
                WHERE table_schema = 'public'
                AND table_name <> 'effect'
                """)) {
            int from = page.indexOf("\n### " + column.get("table") + "\n");
            int to = page.indexOf("\n### ", from + 1);
            String section = from < 0 ? "" : page.substring(from, to < 0 ? page.length() : to);
            if (!section.contains('`' + column.get("column") + '`')) {
                missing.add(column.get("table") + '.' + column.get("column"));
            }
        }
        assertThat(missing).isEmpty();
    }

    @Test
    void recordsOfAKey_completedAndRunning_areTold() {
        ClaimRequest request = TestRequests.fresh();
        JdbiIdempotencyStore store = JdbiIdempotencyStore.of(database.dataSource());
        Claim claim = claim(store, request);
        assertThat(ask("records of a key", request))
                .singleElement()
                .satisfies(row -> assertThat(row).containsEntry("state", "in progress"));
        assertThat(store.complete(claim, new RecordedResult.Replayable(201, new byte[0], new byte[] {1, 2, 3})))
                .isTrue();
        assertThat(ask("records of a key", request))
                .singleElement()
                .satisfies(row -> assertThat(row)
                        .containsEntry("state", "completed")
                        .containsEntry("absent", "f")
                        .containsEntry("result_status", "201")
                        .containsEntry("result_bytes", "3"));
    }

    @Test
    void transactionsThatHoldAKey_runningOperation_isTold() {
        JdbiIdempotencyStore store = JdbiIdempotencyStore.of(database.dataSource());
        TransactionRunner runner = JdbiTransactionRunner.of(database.dataSource());
        List<Map<String, String>> rows = runner.run(TransactionLimits.ofDefaults(), transaction -> {
            assertThat(store.claim(transaction, TestRequests.fresh())).isInstanceOf(ClaimOutcome.Acquired.class);
            return ask("transactions that hold a key");
        });
        assertThat(rows)
                .singleElement()
                .satisfies(row -> assertThat(row).containsEntry("state", "idle in transaction"));
        assertThat(ask("transactions that hold a key")).isEmpty();
    }

    @Test
    void abandonedOperations_endedLease_isTold() {
        ClaimRequest request = TestRequests.fresh();
        claim(JdbiIdempotencyStore.of(database.dataSource()), request);
        assertThat(ask("abandoned operations")).isEmpty();
        database.execute("UPDATE idempotency_record SET lease_until = now() - interval '1 second' WHERE status = 1");
        assertThat(ask("abandoned operations"))
                .singleElement()
                .satisfies(row -> assertThat(row)
                        .containsEntry("idempotency_key", request.id().key().value()));
        database.execute(statement("forget an abandoned operation")
                .replace(":'key'", "'" + request.id().key().value() + "'")
                .replace(":'operation'", "'" + request.id().scope().operation() + "'"));
        assertThat(ask("abandoned operations")).isEmpty();
    }

    @Test
    void outboxQuestions_waitingStuckAndDead_areToldApart() {
        JdbiOutboxStore store = JdbiOutboxStore.of(database.dataSource());
        append(store, "waiting");
        append(store, "stuck");
        append(store, "dead");
        database.execute("""
                UPDATE outbox_event
                SET status = 'PUBLISHING', locked_by = 'relay', claim_token = 7, locked_at = now() - interval '2 minutes',
                locked_until = now() - interval '1 minute'
                WHERE topic = 'stuck'
                """);
        database.execute(
                "UPDATE outbox_event SET status = 'DEAD', done_at = now(), last_error = 'too large' WHERE topic = 'dead'");
        assertThat(topics("oldest waiting event")).containsExactly("waiting");
        assertThat(topics("stuck claims of the outbox")).containsExactly("stuck");
        assertThat(topics("dead events of the outbox")).containsExactly("dead");
        database.execute("DELETE FROM outbox_event");
    }

    @Test
    void unleasedBuckets_oneLeaseOfSixteen_namesTheOthers() {
        JdbiOutboxStore store = JdbiOutboxStore.of(database.dataSource());
        store.announce("relay", LONG);
        assertThat(store.acquire("relay", LONG, 1)).hasSize(1);
        assertThat(ask("unleased buckets")).hasSize(15);
    }

    @Test
    void parkedEventsAndConsumers_areTold() {
        JdbiEventStore store = JdbiEventStore.of(database.dataSource());
        ConsumerId consumer = ConsumerId.of("billing");
        store.register(consumer);
        EventPartition partition = new EventPartition("orders", UUID.randomUUID(), 3);
        assertThat(store.assign(consumer, List.of(partition), "instance-1")).hasSize(1);
        JdbiTransactionRunner.of(database.dataSource()).run(TransactionLimits.ofDefaults(), transaction -> {
            store.park(
                    transaction,
                    consumer,
                    new ParkedEvent(
                            EventId.of("poison"),
                            partition,
                            42,
                            new byte[] {1},
                            new byte[] {2},
                            List.of(),
                            Instant.EPOCH,
                            5,
                            "it always fails"));
            return true;
        });
        assertThat(ask("parked events"))
                .singleElement()
                .satisfies(row -> assertThat(row)
                        .containsEntry("consumer", "billing")
                        .containsEntry("event_id", "poison")
                        .containsEntry("record_offset", "42"));
        assertThat(ask("consumers"))
                .singleElement()
                .satisfies(row ->
                        assertThat(row).containsEntry("owner", "instance-1").containsEntry("partition_number", "3"));
    }

    @Test
    void growthAndSnapshots_nameTablesAndSessions() throws SQLException {
        assertThat(ask("growth")).hasSize(8);
        try (Connection open = database.dataSource().getConnection()) {
            open.setAutoCommit(false);
            open.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            long pid = TestDatabase.number(open, "SELECT pg_backend_pid()");
            assertThat(ask("oldest snapshots"))
                    .extracting(row -> row.get("pid"))
                    .contains(Long.toString(pid));
            open.rollback();
        }
    }

    @Test
    void privileges_areEnoughForEachRole_andNoMore() throws SQLException {
        // Roles belong to the whole server, and other databases of it must not see these names again.
        String suffix = "_" + database.database().name();
        database.execute(
                statement("privileges").replaceAll("(?<=CREATE ROLE |TO )(application|relay|operator)", "$1" + suffix));
        DataSource application = as("application" + suffix);
        DataSource relay = as("relay" + suffix);
        DataSource operator = as("operator" + suffix);
        try {
            useAsApplication(application);
            useAsRelay(relay);
            assertThat(query(operator, "SELECT topic FROM outbox_event")).isNotNull();
            assertRefused(operator, "SELECT payload FROM outbox_event");
            assertRefused(operator, "SELECT result_body FROM idempotency_record");
            assertRefused(operator, "DELETE FROM parked_event");
            assertRefused(application, "DELETE FROM outbox_event");
            assertRefused(relay, "SELECT 1 FROM idempotency_record");
            assertRefused(
                    relay, "INSERT INTO outbox_event (event_id, bucket, topic) VALUES (gen_random_uuid(), 0, 'x')");
        } finally {
            for (String role : List.of("application", "relay", "operator")) {
                database.execute("DROP OWNED BY " + role + suffix);
                database.execute("DROP ROLE " + role + suffix);
            }
        }
    }

    private void useAsApplication(DataSource application) {
        JdbiIdempotencyStore operations = JdbiIdempotencyStore.of(application);
        JdbiEventStore events = JdbiEventStore.of(application);
        JdbiOutboxStore outbox = JdbiOutboxStore.of(application);
        Claim claim = claim(operations, TestRequests.fresh());
        assertThat(operations.extend(claim, LONG)).isTrue();
        assertThat(operations.release(claim)).isTrue();
        ConsumerId consumer = ConsumerId.of("as-application");
        events.register(consumer);
        JdbiTransactionRunner.of(application).run(TransactionLimits.ofDefaults(), transaction -> {
            ClaimRequest request = TestRequests.fresh();
            ClaimOutcome outcome = operations.claim(transaction, request);
            Marks marks = events.mark(transaction, consumer, List.of(EventId.of("an-event")));
            outbox.append(
                    transaction,
                    List.of(OutboxEvent.to("granted")
                            .eventId(UUID.randomUUID())
                            .payload("x")
                            .build()));
            events.confirm(transaction, marks);
            operations.complete(
                    transaction,
                    ((ClaimOutcome.Acquired) outcome).claim(),
                    new RecordedResult.NotReplayable(200, "a test"));
            return true;
        });
        assertThat(events.deleteMarks(Duration.ofDays(1), 10)).isZero();
        assertThat(operations.deleteExpired(10)).isNotNegative();
    }

    private static void useAsRelay(DataSource relay) {
        JdbiOutboxStore outbox = JdbiOutboxStore.of(relay);
        outbox.announce("granted", LONG);
        outbox.acquire("granted", LONG, 16);
        outbox.withdraw("granted");
        outbox.advance(LowWaterMark.unknown());
        OutboxClaim claim = outbox.claim("granted", LONG, new OutboxQuery(0, 10, Set.of()));
        assertThat(claim.rows()).hasSize(1);
        assertThat(outbox.markPublished(
                        claim.token(), List.of(claim.rows().get(0).id()), PublishedRows.DELETE))
                .isOne();
        outbox.returnExpired(10);
        outbox.deletePublished(Duration.ofDays(1), 10);
    }

    private DataSource as(String role) {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(database.database().url().replaceAll("user=.*", "user=" + role));
        return dataSource;
    }

    private static void assertRefused(DataSource dataSource, String sql) {
        assertThatExceptionOfType(SQLException.class)
                .isThrownBy(() -> {
                    try (Connection connection = dataSource.getConnection();
                            Statement statement = connection.createStatement()) {
                        statement.execute(sql);
                    }
                })
                .satisfies(refused -> assertThat(refused.getSQLState()).isEqualTo("42501"));
    }

    private static Claim claim(JdbiIdempotencyStore store, ClaimRequest request) {
        return ((ClaimOutcome.Acquired) store.claim(request, LONG)).claim();
    }

    private void append(JdbiOutboxStore store, String topic) {
        JdbiTransactionRunner.of(database.dataSource())
                .run(
                        TransactionLimits.ofDefaults(),
                        transaction -> store.append(
                                transaction,
                                List.of(OutboxEvent.to(topic)
                                        .eventId(UUID.randomUUID())
                                        .payload("x")
                                        .build())));
    }

    private List<String> topics(String name) {
        return ask(name).stream().map(row -> row.get("topic")).toList();
    }

    private List<Map<String, String>> ask(String name) {
        return query(statement(name));
    }

    private List<Map<String, String>> ask(String name, ClaimRequest request) {
        return query(statement(name).replace(":'key'", "'" + request.id().key().value() + "'"));
    }

    private String statement(String name) {
        return Objects.requireNonNull(statements.get(name), name);
    }

    private List<Map<String, String>> query(String sql) {
        try {
            return query(database.dataSource(), sql);
        } catch (SQLException e) {
            throw new IllegalStateException("Refused: " + sql, e);
        }
    }

    private static List<Map<String, String>> query(DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            ResultSetMetaData columns = rows.getMetaData();
            List<Map<String, String>> found = new ArrayList<>();
            while (rows.next()) {
                Map<String, String> row = new LinkedHashMap<>();
                for (int i = 1; i <= columns.getColumnCount(); i++) {
                    row.put(columns.getColumnLabel(i), String.valueOf(rows.getString(i)));
                }
                found.add(row);
            }
            return found;
        }
    }
}
