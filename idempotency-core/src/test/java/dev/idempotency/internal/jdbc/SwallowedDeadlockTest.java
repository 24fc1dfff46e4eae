package dev.idempotency.internal.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Two transactions lock two rows in opposite order. H2 rolls one of them back and lets its connection go on in a new
 * transaction: code that swallows the error and commits loses what it did before, and hears nothing of it.
 */
class SwallowedDeadlockTest {
    private static final String URL = "jdbc:h2:mem:deadlock;LOCK_TIMEOUT=30000";

    /** How a user's code comes to wait for a lock. */
    private interface Update {
        void run(Connection connection, int id) throws SQLException;
    }

    /** What became of one of the two. */
    private record Outcome(boolean swallowed, boolean rollbackOnly, List<SQLException> seen) {}

    private final ExecutorService threads = Executors.newFixedThreadPool(2);
    private Connection keeper;

    @BeforeEach
    void create() throws SQLException {
        keeper = DriverManager.getConnection(URL);
        try (Statement statement = keeper.createStatement()) {
            statement.execute("create table account (id int primary key, balance int not null)");
            statement.execute("insert into account values (1, 0), (2, 0)");
        }
    }

    @AfterEach
    void drop() throws SQLException {
        threads.shutdownNow();
        try (Statement statement = keeper.createStatement()) {
            statement.execute("shutdown");
        }
    }

    @Test
    void statement_marksTheTransaction() throws Exception {
        assertVictimsAreMarked(SwallowedDeadlockTest::updateByStatement);
    }

    @Test
    void preparedStatement_marksTheTransaction() throws Exception {
        assertVictimsAreMarked((connection, id) -> {
            try (PreparedStatement statement =
                    connection.prepareStatement("update account set balance = balance + 1 where id = ?")) {
                statement.setInt(1, id);
                statement.executeUpdate();
            }
        });
    }

    @Test
    void batch_marksTheTransaction() throws Exception {
        assertVictimsAreMarked((connection, id) -> {
            try (PreparedStatement statement =
                    connection.prepareStatement("update account set balance = balance + 1 where id = ?")) {
                statement.setInt(1, id);
                statement.addBatch();
                statement.executeBatch();
            }
        });
    }

    @Test
    void resultSet_marksTheTransaction() throws Exception {
        assertVictimsAreMarked((connection, id) -> {
            try (Statement statement =
                            connection.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE);
                    ResultSet resultSet = statement.executeQuery("select id, balance from account where id = " + id)) {
                resultSet.next();
                resultSet.updateInt("balance", 1);
                resultSet.updateRow();
            }
        });
    }

    private void assertVictimsAreMarked(Update second) throws Exception {
        CyclicBarrier bothHoldOne = new CyclicBarrier(2);
        Future<Outcome> one = threads.submit(transaction(1, 2, second, bothHoldOne));
        Future<Outcome> two = threads.submit(transaction(2, 1, second, bothHoldOne));

        List<Outcome> outcomes = List.of(one.get(60, TimeUnit.SECONDS), two.get(60, TimeUnit.SECONDS));

        assertThat(outcomes)
                .filteredOn(Outcome::swallowed)
                .as("H2 chose a victim")
                .hasSize(1);
        assertThat(outcomes).allSatisfy(outcome -> {
            assertThat(outcome.rollbackOnly()).isEqualTo(outcome.swallowed());
            assertThat(outcome.seen()).hasSize(outcome.swallowed() ? 1 : 0);
        });
    }

    private static Callable<Outcome> transaction(int first, int then, Update second, CyclicBarrier bothHoldOne) {
        return () -> {
            List<SQLException> seen = new ArrayList<>();
            boolean[] rollbackOnly = new boolean[1];
            try (Connection connection = DriverManager.getConnection(URL)) {
                connection.setAutoCommit(false);
                GuardedConnection guarded = GuardedConnection.of(connection, (failure, lost) -> {
                    seen.add(failure);
                    rollbackOnly[0] |= lost;
                });
                updateByStatement(guarded, first);
                bothHoldOne.await(30, TimeUnit.SECONDS);
                boolean swallowed = false;
                try {
                    second.run(guarded, then);
                } catch (SQLException deadlock) {
                    swallowed = true;
                    // Why the mark is needed: the connection works on and would commit, without the first update.
                    updateByStatement(guarded, first);
                }
                connection.rollback();
                return new Outcome(swallowed, rollbackOnly[0], seen);
            }
        };
    }

    private static void updateByStatement(Connection connection, int id) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate("update account set balance = balance + 1 where id = " + id);
        }
    }
}
