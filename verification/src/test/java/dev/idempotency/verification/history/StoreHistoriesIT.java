package dev.idempotency.verification.history;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.Scope;
import dev.idempotency.jdbi.JdbiIdempotencyStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.spi.LeasedIdempotencyStore;
import dev.idempotency.spi.TransactionalIdempotencyStore;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.verification.history.Histories.Unexplained;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Claims, completions and releases of the real stores look, to every caller, as if they happened one at a time. */
final class StoreHistoriesIT {
    private final long seed = Long.getLong("idempotency.seed", System.nanoTime());

    @Test
    void leased_h2_isLinearizable() {
        leased(HistoryDatabase::h2);
    }

    @Test
    void leased_postgreSql_isLinearizable() {
        leased(HistoryDatabase::postgreSql);
    }

    @Test
    void transactional_h2_isLinearizable() {
        transactional(HistoryDatabase::h2);
    }

    @Test
    void transactional_postgreSql_isLinearizable() {
        transactional(HistoryDatabase::postgreSql);
    }

    private void leased(Supplier<HistoryDatabase> databases) {
        try (HistoryDatabase database = databases.get()) {
            LeasedIdempotencyStore store = JdbiIdempotencyStore.of(database.dataSource());
            report("leased", histories().leased(store, database::endLease));
        }
    }

    private void transactional(Supplier<HistoryDatabase> databases) {
        try (HistoryDatabase database = databases.get()) {
            TransactionalIdempotencyStore store = JdbiIdempotencyStore.of(database.dataSource());
            report("transactional", histories().transactional(store, JdbiTransactionRunner.of(database.dataSource())));
        }
    }

    private static int count() {
        return switch (System.getProperty("idempotency.profile", "ci")) {
            case "fast" -> 100;
            case "full" -> 5_000;
            default -> 500;
        };
    }

    private Histories histories() {
        return new Histories(seed, count());
    }

    private void report(String what, Optional<Unexplained> unexplained) {
        System.out.printf("Histories  %s: %d recorded, -Didempotency.seed=%d%n", what, count(), seed);
        assertThat(unexplained.map(Unexplained::describe)).as("seed " + seed).isEmpty();
    }

    @Test
    void leased_completionWithoutItsToken_isFound() {
        try (HistoryDatabase database = HistoryDatabase.h2()) {
            LeasedIdempotencyStore store = new Unfenced(JdbiIdempotencyStore.of(database.dataSource()), database);
            Optional<Unexplained> found = new Histories(seed, 2_000).leased(store, database::endLease);
            assertThat(found)
                    .as("a history that shows the missing fence, seed " + seed)
                    .isPresent();
            System.out.println(
                    "Seeded: a completion without its token. " + found.get().describe());
        }
    }

    @Test
    void transactional_claimThatTakesBusyForFree_isFound() {
        try (HistoryDatabase database = HistoryDatabase.postgreSql()) {
            TransactionalIdempotencyStore store = new Unlocked(JdbiIdempotencyStore.of(database.dataSource()));
            Optional<Unexplained> found =
                    new Histories(seed, 2_000).transactional(store, JdbiTransactionRunner.of(database.dataSource()));
            assertThat(found)
                    .as("a history that shows two owners, seed " + seed)
                    .isPresent();
            System.out.println(
                    "Seeded: a claim that takes busy for free. " + found.get().describe());
        }
    }

    /** Completes whatever claim stands there. */
    private record Unfenced(LeasedIdempotencyStore store, HistoryDatabase database) implements LeasedIdempotencyStore {
        @Override
        public boolean complete(Claim claim, RecordedResult result) {
            return store.complete(database.findPresent(claim), result);
        }

        @Override
        public ClaimOutcome claim(ClaimRequest request, Duration leaseDuration) {
            return store.claim(request, leaseDuration);
        }

        @Override
        public boolean extend(Claim claim, Duration leaseDuration) {
            return store.extend(claim, leaseDuration);
        }

        @Override
        public boolean release(Claim claim) {
            return store.release(claim);
        }

        @Override
        public boolean forget(RecordId id) {
            return store.forget(id);
        }

        @Override
        public int forgetCaller(Scope caller, int limit) {
            return store.forgetCaller(caller, limit);
        }

        @Override
        public int deleteExpired(int limit) {
            return store.deleteExpired(limit);
        }
    }

    /** Takes a key that somebody else holds for one that is free. */
    private record Unlocked(TransactionalIdempotencyStore store) implements TransactionalIdempotencyStore {
        @Override
        public ClaimOutcome claim(Transaction transaction, ClaimRequest request) {
            ClaimOutcome outcome = store.claim(transaction, request);
            if (!(outcome instanceof ClaimOutcome.InProgress)) {
                return outcome;
            }
            String sql = "SELECT (extract(epoch FROM now()) * 1000000)::bigint";
            try (Statement statement = transaction.unwrap(Connection.class).createStatement();
                    ResultSet rows = statement.executeQuery(sql)) {
                rows.next();
                long start = rows.getLong(1);
                return new ClaimOutcome.Acquired(new Claim(request, UUID.randomUUID(), start, 1, start + "/-1"));
            } catch (SQLException e) {
                throw new IllegalStateException("Refused: " + sql, e);
            }
        }

        @Override
        public void complete(Transaction transaction, Claim claim, RecordedResult result) {
            store.complete(transaction, claim, result);
        }

        @Override
        public boolean forget(RecordId id) {
            return store.forget(id);
        }

        @Override
        public int forgetCaller(Scope caller, int limit) {
            return store.forgetCaller(caller, limit);
        }

        @Override
        public int deleteExpired(int limit) {
            return store.deleteExpired(limit);
        }
    }
}
