package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult.Replayable;
import dev.idempotency.Scope;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.testkit.fault.Gate;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Rule T6 where the pool's transactions have one snapshot from their first statement on, which is the one that takes the
 * claim's lock: what was committed while it waited is not in it.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PostgreSqlIsolationIT {
    private static final Duration DEADLINE = Duration.ofSeconds(60);
    private static final TransactionLimits LIMITS = new TransactionLimits(DEADLINE, DEADLINE, Duration.ofMinutes(2));
    private static final Replayable ANSWER = new Replayable(201, new byte[0], new byte[] {1});
    private static final long HALF_WAY = 4712;

    private final PostgreSqlTestDatabase database = new PostgreSqlTestDatabase();

    @AfterAll
    void close() {
        database.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"read%20committed", "repeatable%20read", "serializable"})
    void lookUp_commitBetweenSnapshotAndLock_isSeenAtEveryIsolation(String isolation) throws Exception {
        assertThat(whatIsSeen(isolation, true)).isEqualTo(new ClaimOutcome.Completed(ANSWER));
    }

    @ParameterizedTest
    @ValueSource(strings = {"repeatable%20read", "serializable"})
    void lookUp_withTheIsolationOfThePool_takesAbsenceForProofAndIsWrong(String isolation) throws Exception {
        assertThat(whatIsSeen(isolation, false)).isInstanceOf(ClaimOutcome.Acquired.class);
    }

    /** The look-up has its snapshot and not yet its lock when the transaction that it is about commits. */
    private ClaimOutcome whatIsSeen(String isolation, boolean readCommitted) throws Exception {
        ClaimRequest request = new ClaimRequest(
                new RecordId(
                        Scope.shared("isolation"),
                        IdempotencyKey.of(UUID.randomUUID().toString())),
                Fingerprint.none(),
                Duration.ofHours(1),
                AbandonedPolicy.REPORT_UNKNOWN);
        DataSource isolated = database.database()
                .dataSource(
                        Map.of("options", "-c%20default_transaction_isolation=" + isolation.replace("%20", "%5C%20")));
        Gate beforeCommit = new Gate();
        CompletableFuture<Boolean> original = CompletableFuture.supplyAsync(() -> commit(request, beforeCommit));
        beforeCommit.awaitReached(DEADLINE);
        try (Connection holder = database.database().dataSource().getConnection()) {
            TestDatabase.number(holder, "SELECT 1 FROM pg_advisory_lock(" + HALF_WAY + ")");
            CompletableFuture<ClaimOutcome> lookUp =
                    CompletableFuture.supplyAsync(() -> lookUp(isolated, request, readCommitted));
            awaitWaiter(holder);
            beforeCommit.open();
            original.get(60, TimeUnit.SECONDS);
            TestDatabase.number(holder, "SELECT 1 FROM pg_advisory_unlock(" + HALF_WAY + ")");
            return lookUp.get(60, TimeUnit.SECONDS);
        }
    }

    private boolean commit(ClaimRequest request, Gate beforeCommit) {
        JdbiIdempotencyStore store = JdbiIdempotencyStore.of(database.dataSource());
        return JdbiTransactionRunner.of(database.dataSource()).run(LIMITS, transaction -> {
            ClaimOutcome.Acquired acquired = (ClaimOutcome.Acquired) store.claim(transaction, request);
            store.complete(transaction, acquired.claim(), ANSWER);
            beforeCommit.pass();
            return true;
        });
    }

    private static ClaimOutcome lookUp(DataSource isolated, ClaimRequest request, boolean readCommitted) {
        TableNames names = TableNames.ofDefaults();
        StoreDatabase connected = StoreDatabase.connect(isolated, names, SchemaSubject.OPERATIONS);
        PostgreSqlLimits limits = connected.inOwnTransaction(
                "The look at the settings", LIMITS, (transaction, connection) -> PostgreSqlLimits.probe(connection));
        PostgreSqlOperationSql sql = new WaitsHalfWay(names, limits);
        JdbiIdempotencyStore store = new JdbiIdempotencyStore(
                connected,
                readCommitted
                        ? new PostgreSqlOperationRecords(sql, Duration.ofSeconds(1))
                        : new LeavesTheIsolation(sql),
                LIMITS);
        return JdbiTransactionRunner.of(isolated).run(LIMITS, transaction -> {
            transaction.setRollbackOnly();
            return store.claim(transaction, request);
        });
    }

    private static void awaitWaiter(Connection connection) {
        long end = System.nanoTime() + DEADLINE.toNanos();
        while (TestDatabase.number(
                        connection, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
                == 0) {
            assertThat(System.nanoTime()).as("time for the look-up to begin").isLessThan(end);
            Thread.onSpinWait();
        }
    }

    /** Waits in its first statement, which has its snapshot by then, before it tries the claim's lock. */
    private static final class WaitsHalfWay extends PostgreSqlOperationSql {
        WaitsHalfWay(TableNames names, PostgreSqlLimits limits) {
            super(names, limits);
        }

        @Override
        String lock(String function) {
            return super.lock("(pg_advisory_xact_lock_shared(" + HALF_WAY + ") IS NOT NULL) AND " + function);
        }
    }

    private static final class LeavesTheIsolation extends PostgreSqlOperationRecords {
        LeavesTheIsolation(PostgreSqlOperationSql sql) {
            super(sql, Duration.ofSeconds(1));
        }

        @Override
        ClaimOutcome probe(Connection connection, TransactionLimits limits, ClaimRequest request) throws SQLException {
            return claim(connection, limits, request);
        }
    }
}
