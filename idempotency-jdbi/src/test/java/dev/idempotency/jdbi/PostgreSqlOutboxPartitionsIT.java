package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.LowWaterMark;
import dev.idempotency.spi.OutboxClaim;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.OutboxRowId;
import dev.idempotency.spi.PublishedRows;
import dev.idempotency.testkit.service.EmbeddedPostgreSql;
import dev.idempotency.testkit.service.PostgreSqlDatabase;
import dev.idempotency.transaction.TransactionLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The statements of the page on partitions, and an outbox that works on what they make. */
class PostgreSqlOutboxPartitionsIT {
    private static final Path PAGE = Path.of("..", "docs", "outbox-partitions.md");
    private static final Pattern STATEMENT =
            Pattern.compile("<!-- run: ([a-z ]+) -->\\R```sql\\R(.*?)```", Pattern.DOTALL);
    private static final String DAY_OF_THE_PAGE = "20260101";

    private static String statement(String name) throws IOException {
        Map<String, String> statements = STATEMENT
                .matcher(Files.readString(PAGE))
                .results()
                .collect(Collectors.toMap(found -> found.group(1), found -> found.group(2)));
        String statement = statements.get(name);
        assertThat(statement).as("statement '" + name + "' of the page").isNotNull();
        return String.valueOf(statement);
    }

    @Test
    void partitionedOutbox_relaysItsRows_andForgetsADayAtOnce() throws Exception {
        try (PostgreSqlDatabase database = EmbeddedPostgreSql.shared().createDatabase()) {
            execute(database, "SET TIME ZONE 'UTC'; " + statement("table"));
            execute(database, "SET TIME ZONE 'UTC'; " + statement("partition of a day"));
            SchemaInstaller.of(database.dataSource()).install();
            String day =
                    query(database, "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname ~ '^outbox_event_2'");
            JdbiOutboxStore store = JdbiOutboxStore.of(database.dataSource());
            UUID today = timeOrdered();
            UUID given = UUID.fromString("ffffffff-0000-4000-8000-000000000001");

            append(database, store, today);
            append(database, store, given);
            // An id that is there is found in its partition.
            append(database, store, today);

            assertThat(query(database, "SELECT count(*) FROM " + day)).isEqualTo("1");
            assertThat(query(database, "SELECT count(*) FROM outbox_event_other"))
                    .isEqualTo("1");
            OutboxClaim claim = store.claim("relay", Duration.ofMinutes(1), new OutboxQuery(0, 10, Set.of()));
            assertThat(claim.rows()).extracting(OutboxRow::eventId).containsExactly(today, given);
            assertThat(query(database, left(day))).isEqualTo("1");
            List<OutboxRowId> rows = claim.rows().stream().map(OutboxRow::id).toList();
            assertThat(store.markPublished(claim.token(), rows, PublishedRows.KEEP))
                    .isEqualTo(2);
            LowWaterMark mark = LowWaterMark.unknown();
            for (int i = 0; i < 5; i++) {
                mark = store.advance(mark);
            }
            assertThat(mark.firstLive()).isGreaterThan(rows.get(1).sequence());

            assertThat(query(database, left(day))).isEqualTo("0");
            execute(database, statement("retention").replace("outbox_event_" + DAY_OF_THE_PAGE, day));

            assertThat(query(database, "SELECT count(*) FROM outbox_event")).isEqualTo("1");
            assertThat(store.claim("relay", Duration.ofMinutes(1), new OutboxQuery(0, 10, Set.of()))
                            .rows())
                    .isEmpty();
        }
    }

    private static String left(String day) throws IOException {
        return statement("what is left in a partition").replace("outbox_event_" + DAY_OF_THE_PAGE, day);
    }

    /** An id as the outbox draws them, of this moment. */
    private static UUID timeOrdered() {
        long millis = System.currentTimeMillis();
        return new UUID((millis << 16) | 0x7000, 0x8000_0000_0000_0001L);
    }

    private static void append(PostgreSqlDatabase database, JdbiOutboxStore store, UUID id) {
        OutboxEvent event = OutboxEvent.to("orders").eventId(id).key("k").build();
        JdbiTransactionRunner.of(database.dataSource())
                .run(TransactionLimits.ofDefaults(), transaction -> store.append(transaction, List.of(event)));
    }

    private static void execute(PostgreSqlDatabase database, String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static String query(PostgreSqlDatabase database, String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        }
    }
}
