package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The database rolls a deadlock's victim back, and its next statement begins a new transaction as if nothing had happened. */
abstract class DeadlockEventCounterSchedules extends EventCounterSchedules {
    private Adversary adversary = new Adversary();

    DeadlockEventCounterSchedules(TestDatabase database) {
        super(database);
        database.execute("CREATE TABLE account (id int PRIMARY KEY, balance int)");
        for (int id = 1; id <= 20; id++) {
            database.execute("INSERT INTO account VALUES (" + id + ", 0)");
        }
    }

    /** What the other transaction does first, so that it holds account 2 and is not chosen as the victim. */
    abstract void holdAccountTwo(Connection connection) throws SQLException;

    /** How many sessions wait for a lock. */
    abstract String countBlocked();

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
                holdAccountTwo(connection);
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
            while (TestDatabase.number(connection, countBlocked()) == 0) {
                assertThat(System.nanoTime()).isLessThan(end);
                Thread.onSpinWait();
            }
        }
    }
}
