package dev.idempotency.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idempotency.OutboxEvent;
import dev.idempotency.StoreException;
import dev.idempotency.transaction.JoinedTransaction;
import dev.idempotency.transaction.TransactionLimits;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What only a server of PostgreSQL's kind can do to a relay or a writer. */
abstract class PostgreSqlScenarios extends RelayScenarios {
    /** After a fail-over the old primary answers, but writes no more (25006): the relay waits and goes on afterwards. */
    @ParameterizedTest
    @EnumSource
    void primaryBecomesReadOnly_nothingIsLost_andTheRelayRecovers(Mode mode) throws SQLException {
        RelayBuilder<?> builder = builder(mode);
        if (builder instanceof ClaimRelayBuilder claiming) {
            claiming.lease(Duration.ofSeconds(7));
        }
        OutboxRelay relay = start(builder);
        publisher.hold();
        List<UUID> ids = new ArrayList<>(append("orders", 20));
        await().atMost(DEADLINE).until(() -> publisher.held() == 20);

        setReadOnly(true);
        publisher.letGo();
        // What is marked later is sent now; what comes after it waits, because leases and claims cannot be written.
        await().atMost(DEADLINE).until(() -> publisher.arrived().size() == 20);
        await().atMost(DEADLINE).until(() -> relay.statistics().failedPasses() > 0 || mode == Mode.LEASE);
        await().atMost(DEADLINE).ignoreExceptions().until(() -> database.count("done_at IS NULL") == 20);
        setReadOnly(false);
        await().atMost(DEADLINE).ignoreExceptions().until(() -> ids.addAll(append("orders", 20)));

        await().atMost(DEADLINE).ignoreExceptions().until(() -> database.count("done_at IS NULL") == 0);
        assertThat(new HashSet<>(arrivedIds())).containsAll(ids);
        assertThat(database.count("status = 'DEAD' OR attempts > 0")).isZero();
        await().atMost(DEADLINE).until(() -> relay.health().status() == RelayHealth.Status.UP);
    }

    private void setReadOnly(boolean readOnly) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SET default_transaction_read_only = off");
            statement.execute("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = "
                    + readOnly + "', current_database()); END $$");
            statement.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    + " WHERE datname = current_database() AND pid <> pg_backend_pid()");
            // A session keeps what it began with, this one too.
            assertThatThrownBy(() -> statement.execute("SELECT pg_terminate_backend(pg_backend_pid())"))
                    .isInstanceOf(SQLException.class);
        }
    }

    /** The commit itself fails, long after the append has succeeded. */
    @Test
    void deferredConstraintFailsAtTheCommit_nothingIsScheduled() {
        database.execute("CREATE TABLE parent (id int PRIMARY KEY)");
        database.execute("CREATE TABLE child (id int REFERENCES parent DEFERRABLE INITIALLY DEFERRED)");
        start(builder(Mode.LEASE));

        assertThatThrownBy(() -> database.runner()
                        .<UUID, SQLException>run(TransactionLimits.ofDefaults(), transaction -> {
                            Connection connection = transaction.unwrap(Connection.class);
                            try (Statement statement = connection.createStatement()) {
                                statement.execute("INSERT INTO child VALUES (1)");
                            }
                            return Outbox.of(store)
                                    .append(
                                            transaction,
                                            OutboxEvent.to("orders").build());
                        }))
                .hasStackTraceContaining("child");

        List<UUID> ids = append("orders", 1);
        awaitArrived(1);
        awaitNothingLeft();
        assertThat(arrivedIds()).containsExactlyElementsOf(ids);
    }

    /** The one who locks the business row first appends first and commits first: the lock is what orders the two. */
    @Test
    void twoWritersOfOneKey_behindALockOfTheBusinessRow_areRelayedInTheOrderOfTheirCommits() throws Exception {
        database.execute("CREATE TABLE account (id int PRIMARY KEY, version int NOT NULL)");
        database.execute("INSERT INTO account VALUES (1, 0)");
        start(builder(Mode.LEASE));
        List<Thread> writers = new ArrayList<>();
        for (int writer = 0; writer < 2; writer++) {
            Thread thread = new Thread(() -> {
                for (int i = 0; i < 100; i++) {
                    appendVersion();
                }
            });
            writers.add(thread);
            thread.start();
        }
        for (Thread writer : writers) {
            writer.join(DEADLINE.toMillis());
        }

        awaitArrived(200);
        assertThat(publisher.arrived())
                .extracting(row ->
                        Integer.parseInt(new String(row.event().payload().orElseThrow(), StandardCharsets.UTF_8)))
                .hasSize(200)
                .isSorted();
    }

    private void appendVersion() {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            try (ResultSet rows =
                    statement.executeQuery("UPDATE account SET version = version + 1 WHERE id = 1 RETURNING version")) {
                rows.next();
                Outbox.of(store)
                        .append(
                                JoinedTransaction.of(connection),
                                OutboxEvent.to("orders")
                                        .key("account-1")
                                        .payload(Integer.toString(rows.getInt(1)))
                                        .build());
            }
            connection.commit();
        } catch (SQLException e) {
            throw new StoreException("The test's writer failed", e);
        }
    }
}
