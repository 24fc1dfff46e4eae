package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PostgreSqlTombstoneIT extends SqlTombstoneContract {
    private static final Duration DEADLINE = Duration.ofSeconds(60);

    @Override
    TestDatabase open() {
        return new PostgreSqlTestDatabase();
    }

    /** An erasure that passed over the record would leave its tombstone, with key and fingerprint, and say nothing. */
    @Test
    void forgetCaller_recordOfWhichTheSweepMakesATombstone_isForgottenToo() throws Exception {
        claimAndLetExpire();
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (Connection sweep = database().dataSource().getConnection()) {
            sweep.setAutoCommit(false);
            execute(sweep, "UPDATE idempotency_record SET expires_at = now() + interval '7 days', result_body = NULL");
            Future<Integer> forgotten = thread.submit(this::forgetCaller);
            awaitWaitingOrDone(forgotten);
            sweep.commit();
            assertThat(forgotten.get(DEADLINE.toSeconds(), TimeUnit.SECONDS)).isEqualTo(1);
            assertThat(count("TRUE")).isZero();
        } finally {
            thread.shutdownNow();
        }
    }

    private void awaitWaitingOrDone(Future<?> future) {
        long end = System.nanoTime() + DEADLINE.toNanos();
        while (!future.isDone() && !isSomebodyWaiting()) {
            assertThat(System.nanoTime()).as("time for the erasure to wait").isLessThan(end);
            Thread.onSpinWait();
        }
    }

    private boolean isSomebodyWaiting() {
        try (Connection connection = database().dataSource().getConnection()) {
            return TestDatabase.number(
                            connection,
                            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                                    + " AND wait_event_type = 'Lock'")
                    > 0;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
