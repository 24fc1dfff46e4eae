package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** H2 rolls a deadlock's victim back, and its next statement begins a new transaction as if nothing had happened. */
class H2EventCounterScheduleTest extends EventCounterSchedules {
    private Adversary adversary = new Adversary();

    H2EventCounterScheduleTest() {
        super(new H2TestDatabase());
        database.execute("CREATE TABLE account (id int PRIMARY KEY, balance int)");
        database.execute("INSERT INTO account VALUES (1, 0), (2, 0)");
    }

    /** H2 chooses the youngest transaction of the circle, so the other one begins first. */
    @Override
    void beforeTransaction() {
        adversary = new Adversary();
        adversary.begin();
    }

    @Override
    void effectThenSwallowedFailure(Connection connection, String effect) throws SQLException {
        execute(connection, "INSERT INTO effect (id) VALUES ('" + effect + "')");
        execute(connection, "UPDATE account SET balance = 1 WHERE id = 1");
        adversary.goOn();
        awaitBlocked();
        boolean victim = false;
        try {
            execute(connection, "UPDATE account SET balance = 1 WHERE id = 2");
        } catch (SQLException e) {
            victim = true;
        }
        assertThat(victim)
                .as("the handler's transaction was the deadlock's victim")
                .isTrue();
        adversary.awaitEnd();
    }

    /** Holds account 2, then wants account 1. */
    private final class Adversary {
        private final CompletableFuture<Boolean> holdsTwo = new CompletableFuture<>();
        private final CompletableFuture<Boolean> mayGoOn = new CompletableFuture<>();
        private CompletableFuture<Void> end = CompletableFuture.completedFuture(null);

        void begin() {
            end = CompletableFuture.runAsync(this::run);
            holdsTwo.orTimeout(60, TimeUnit.SECONDS).join();
        }

        private void run() {
            try (Connection connection = database.dataSource().getConnection()) {
                execute(connection, "SET LOCK_TIMEOUT 60000");
                connection.setAutoCommit(false);
                execute(connection, "UPDATE account SET balance = 2 WHERE id = 2");
                holdsTwo.complete(true);
                mayGoOn.orTimeout(60, TimeUnit.SECONDS).join();
                execute(connection, "UPDATE account SET balance = 2 WHERE id = 1");
                connection.rollback();
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        void goOn() {
            mayGoOn.complete(true);
        }

        void awaitEnd() {
            end.orTimeout(60, TimeUnit.SECONDS).join();
        }
    }

    private void awaitBlocked() throws SQLException {
        long end = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        try (Connection connection = database.dataSource().getConnection()) {
            while (TestDatabase.number(
                            connection, "SELECT COUNT(*) FROM INFORMATION_SCHEMA.SESSIONS WHERE BLOCKER_ID IS NOT NULL")
                    == 0) {
                assertThat(System.nanoTime()).isLessThan(end);
                Thread.onSpinWait();
            }
        }
    }
}
