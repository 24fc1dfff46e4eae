package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.OutboxClaim;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.testkit.service.EmbeddedPostgreSql;
import dev.idempotency.testkit.service.PostgreSqlDatabase;
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
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What keeps an outbox's costs flat on PostgreSQL: which index is walked, what a claim writes, what the tables are set to. */
class PostgreSqlOutboxPlansIT {
    private PostgreSqlDatabase database;
    private JdbiOutboxStore store;

    @BeforeEach
    void open() {
        database = EmbeddedPostgreSql.shared().createDatabase();
        SchemaInstaller.of(database.dataSource()).install();
        store = JdbiOutboxStore.of(database.dataSource());
    }

    @AfterEach
    void close() {
        database.close();
    }

    private void append(int events) {
        JdbiTransactionRunner.of(database.dataSource()).run(TransactionLimits.ofDefaults(), transaction -> {
            List<OutboxEvent> batch = new ArrayList<>();
            for (int i = 0; i < events; i++) {
                batch.add(OutboxEvent.to("orders")
                        .eventId(UUID.randomUUID())
                        .key("key-" + i)
                        .build());
            }
            return store.append(transaction, batch);
        });
    }

    private List<String> query(String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> result = new ArrayList<>();
            while (rows.next()) {
                result.add(rows.getString(1));
            }
            return result;
        }
    }

    private void execute(String... statements) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    /** A claim that wrote an index would write three times as much, and leave as much behind. */
    @Test
    void claim_isAHeapOnlyUpdate() throws SQLException {
        append(200);
        execute("VACUUM outbox_event");

        OutboxClaim claim = store.claim("plans", Duration.ofMinutes(5), new OutboxQuery(0, 100, Set.of()));

        assertThat(claim.rows()).hasSize(100);
        await().atMost(Duration.ofSeconds(30)).until(() -> statistic("n_tup_upd") == 100);
        // As many as the free space of their pages takes; the rest goes where the rows behind them are free.
        assertThat(statistic("n_tup_hot_upd")).isGreaterThan(20);
    }

    private int statistic(String column) throws SQLException {
        return Integer.parseInt(query("SELECT " + column + " FROM pg_stat_user_tables WHERE relname = 'outbox_event'")
                .get(0));
    }

    /** With stale statistics the planner would walk any other index for its order, over all the rows that are done. */
    @Test
    void read_statisticsAreStale_walksTheLiveIndexFromWhereItBegins() throws SQLException {
        append(5_000);
        execute(
                "ANALYZE outbox_event",
                "UPDATE outbox_event SET status = 'PUBLISHED', done_at = now() WHERE seq <= 4990");

        String plan = plan(new PostgreSqlOutboxSql(TableNames.ofDefaults(), limits()).read(1, false));

        assertThat(plan)
                .contains("outbox_event_live")
                .doesNotContain("Seq Scan")
                .doesNotContain("outbox_event_pkey");
        assertThat(plan).containsPattern("Index Cond: .*seq >= ");
    }

    @Test
    void claim_statisticsAreStale_walksTheLiveIndexFromWhereItBegins() throws SQLException {
        append(5_000);
        execute(
                "ANALYZE outbox_event",
                "UPDATE outbox_event SET status = 'PUBLISHED', done_at = now() WHERE seq <= 4990");

        String plan = plan(new PostgreSqlOutboxSql(TableNames.ofDefaults(), limits()).lock());

        assertThat(plan)
                .contains("outbox_event_live")
                .doesNotContain("Seq Scan")
                .doesNotContain("outbox_event_pkey");
        assertThat(plan).containsPattern("Index Cond: .*seq >= ");
    }

    @Test
    void readWithoutHeldKeys_statisticsAreStale_walksTheLiveIndexFromWhereItBegins() throws SQLException {
        append(5_000);
        execute(
                "ANALYZE outbox_event",
                "UPDATE outbox_event SET status = 'PUBLISHED', done_at = now() WHERE seq <= 4990");

        String plan = plan(new PostgreSqlOutboxSql(TableNames.ofDefaults(), limits())
                .read(1, true)
                .replace("(seq = ANY(?)", "(seq = ANY('{1}'::bigint[])")
                .replace("msg_key = ANY(?)", "msg_key = ANY('{a}'::bytea[])")
                .replace("ordering_key = ANY(?)", "ordering_key = ANY('{a}'::varchar[])"));

        assertThat(plan)
                .contains("outbox_event_live")
                .doesNotContain("Seq Scan")
                .doesNotContain("outbox_event_pkey");
        assertThat(plan).containsPattern("Index Cond: .*seq >= ");
    }

    /** With two conditions on arrays, a plan that is made for any number of rows would compare each row with each id. */
    @Test
    void marks_planForAnyNumberOfRows_looksEachRowUpOnce() throws SQLException {
        append(5_000);
        execute("ANALYZE outbox_event");
        PostgreSqlOutboxSql sql = new PostgreSqlOutboxSql(TableNames.ofDefaults(), limits());

        for (String mark : List.of(sql.lockPublished(), sql.lockDeletePublished())) {
            String plan = genericPlan(mark, "bigint[], uuid[]", "'{}', '{}'");
            assertThat(plan)
                    .contains("Nested Loop")
                    .containsPattern("Index (Only )?Scan using outbox_event_(live|pkey)")
                    .doesNotContain("Seq Scan")
                    .doesNotContain("ANY");
        }
        for (String mark : List.of(sql.leasePublished(), sql.leaseDeletePublished())) {
            String plan = genericPlan(
                    mark, "bigint[], uuid[], smallint[], bigint[], varchar", "'{}', '{}', '{}', '{}', 'relay'");
            assertThat(plan)
                    .containsPattern("Index (Only )?Scan using outbox_event_(live|pkey)")
                    .doesNotContain("Seq Scan on outbox_event")
                    .doesNotContain("ANY");
        }
    }

    private String genericPlan(String statement, String types, String arguments) throws SQLException {
        String numbered = statement;
        for (int index = 1; numbered.contains("?"); index++) {
            numbered = numbered.replaceFirst("\\?", "\\$" + index);
        }
        try (Connection connection = database.dataSource().getConnection();
                Statement prepared = connection.createStatement()) {
            prepared.execute("SET plan_cache_mode = force_generic_plan");
            prepared.execute("PREPARE mark (" + types + ") AS " + numbered);
            List<String> lines = new ArrayList<>();
            try (ResultSet rows = prepared.executeQuery("EXPLAIN EXECUTE mark (" + arguments + ")")) {
                while (rows.next()) {
                    lines.add(rows.getString(1));
                }
            }
            return String.join("\n", lines);
        }
    }

    private PostgreSqlLimits limits() throws SQLException {
        try (Connection connection = database.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            return PostgreSqlLimits.probe(connection);
        }
    }

    private String plan(String statement) throws SQLException {
        String filled = statement
                .replaceFirst("seq >= \\?", "seq >= 4990")
                .replaceFirst("BETWEEN \\? AND \\?", "BETWEEN 0 AND 255")
                .replaceFirst("ANY\\(\\?\\)", "ANY('{}'::varchar[])")
                .replaceFirst("bytes_before < \\?", "bytes_before < 1000000")
                .replace("?", "100");
        return query("EXPLAIN " + filled).stream().collect(Collectors.joining("\n"));
    }

    /** Deleted rows leave their long values behind too. */
    @Test
    void tables_areVacuumedByNumbersOfRows_theirLongValuesToo() throws SQLException {
        assertThat(query("SELECT unnest(reloptions) FROM pg_class WHERE relname = 'outbox_event'"))
                .contains("autovacuum_vacuum_scale_factor=0", "autovacuum_vacuum_threshold=10000");
        assertThat(query("SELECT unnest(t.reloptions) FROM pg_class c JOIN pg_class t ON t.oid = c.reltoastrelid"
                        + " WHERE c.relname = 'outbox_event'"))
                .contains("autovacuum_vacuum_scale_factor=0", "autovacuum_vacuum_threshold=10000");
    }

    /** Numbers that are drawn in advance would not come in the order of the draws. */
    @Test
    void sequence_isDrawnOneByOne_andStandsInNoIndexButTheLiveOne() throws SQLException {
        assertThat(query("SELECT cache_size FROM pg_sequences WHERE sequencename = 'outbox_event_seq_seq'"))
                .containsExactly("1");
        assertThat(query("SELECT indexname FROM pg_indexes WHERE tablename = 'outbox_event' AND indexdef LIKE '%seq%'"))
                .containsExactly("outbox_event_live");
    }
}
