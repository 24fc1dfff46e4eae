package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.ClaimLostException;
import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyException;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult.Replayable;
import dev.idempotency.Scope;
import dev.idempotency.TransactionLostException;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.testkit.fault.Gate;
import dev.idempotency.transaction.RolledBackException;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Schedules under which a rule of section 3 of the design decides: each is run with the rule and, in a mutant that lives
 * here only, without it.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PostgreSqlCounterScheduleIT {
    private static final TransactionLimits LIMITS = TransactionLimits.ofDefaults();
    private static final Duration DEADLINE = Duration.ofSeconds(60);
    private static final Replayable ANSWER = new Replayable(201, new byte[0], new byte[] {1});

    private final PostgreSqlTestDatabase database = new PostgreSqlTestDatabase();
    private final AtomicInteger keys = new AtomicInteger();

    @AfterAll
    void close() {
        database.close();
    }

    private ClaimRequest freshRequest() {
        RecordId id = new RecordId(Scope.shared("counter"), IdempotencyKey.of("key-" + keys.incrementAndGet()));
        return new ClaimRequest(id, Fingerprint.none(), Duration.ofHours(1), AbandonedPolicy.REPORT_UNKNOWN);
    }

    private static String effect(ClaimRequest request) {
        return request.id().key().value();
    }

    private JdbiIdempotencyStore store() {
        return JdbiIdempotencyStore.of(database.dataSource());
    }

    private TransactionRunner runner() {
        return JdbiTransactionRunner.of(database.dataSource());
    }

    /** A store with another way of keeping records. */
    private JdbiIdempotencyStore store(DataSource dataSource, Mutation mutation) {
        TableNames names = TableNames.ofDefaults();
        StoreDatabase connected = StoreDatabase.connect(dataSource, names, SchemaSubject.OPERATIONS);
        PostgreSqlLimits limits = connected.inOwnTransaction(
                "The look at the settings", LIMITS, (transaction, connection) -> PostgreSqlLimits.probe(connection));
        return new JdbiIdempotencyStore(connected, mutation.of(names, limits), LIMITS);
    }

    private interface Mutation {
        OperationRecords of(TableNames names, PostgreSqlLimits limits);
    }

    private ClaimOutcome probe(JdbiIdempotencyStore store, ClaimRequest request) {
        return runner().run(LIMITS, transaction -> {
            transaction.setRollbackOnly();
            return store.claim(transaction, request);
        });
    }

    /** Returns true if the work ran. */
    private boolean attempt(JdbiIdempotencyStore store, ClaimRequest request) {
        AtomicInteger runs = new AtomicInteger();
        try {
            runner().run(LIMITS, transaction -> {
                if (store.claim(transaction, request) instanceof ClaimOutcome.Acquired acquired) {
                    runs.incrementAndGet();
                    database.addEffect(transaction, effect(request));
                    store.complete(transaction, acquired.claim(), ANSWER);
                }
                return true;
            });
        } catch (ClaimLostException e) {
            assertThat(runs)
                    .as("a claim that was lost, although its work had run")
                    .hasValue(1);
        }
        return runs.get() == 1;
    }

    // Rule: the lock is taken before the look-up.

    @Test
    void lookUpBeforeLock_originalCommitsInBetween_theWorkRunsAgain() {
        ClaimRequest request = freshRequest();
        Gate betweenLookUpAndLock = new Gate();
        JdbiIdempotencyStore mutant = store(
                database.dataSource(),
                (names, limits) ->
                        new LooksUpBeforeItLocks(new PostgreSqlOperationSql(names, limits), betweenLookUpAndLock));

        CompletableFuture<Boolean> duplicate = CompletableFuture.supplyAsync(() -> attempt(mutant, request));
        betweenLookUpAndLock.awaitReached(DEADLINE);
        assertThat(attempt(store(), request)).isTrue();
        betweenLookUpAndLock.open();

        assertThat(duplicate.orTimeout(60, TimeUnit.SECONDS).join())
                .as("the work ran a second time; the unique key undid what it had written")
                .isTrue();
        assertThat(database.countEffects(effect(request))).isEqualTo(1);
    }

    @Test
    void lockBeforeLookUp_manyRaces_theWorkNeverRunsAgain() throws Exception {
        JdbiIdempotencyStore store = store();
        CyclicBarrier start = new CyclicBarrier(2);
        int rounds = 400;
        List<ClaimRequest> requests = new ArrayList<>();
        for (int i = 0; i < rounds; i++) {
            requests.add(freshRequest());
        }
        AtomicInteger runs = new AtomicInteger();
        CompletableFuture<Void> one = CompletableFuture.runAsync(() -> race(store, requests, start, runs));
        CompletableFuture<Void> other = CompletableFuture.runAsync(() -> race(store, requests, start, runs));
        CompletableFuture.allOf(one, other).get(120, TimeUnit.SECONDS);

        assertThat(runs).hasValue(rounds);
    }

    private void race(
            JdbiIdempotencyStore store, List<ClaimRequest> requests, CyclicBarrier start, AtomicInteger runs) {
        for (ClaimRequest request : requests) {
            try {
                start.await(60, TimeUnit.SECONDS);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            while (!(probeAndCount(store, request, runs) instanceof ClaimOutcome.Completed)) {
                Thread.onSpinWait();
            }
        }
    }

    private ClaimOutcome probeAndCount(JdbiIdempotencyStore store, ClaimRequest request, AtomicInteger runs) {
        if (attempt(store, request)) {
            runs.incrementAndGet();
        }
        return probe(store, request);
    }

    private static final class LooksUpBeforeItLocks extends PostgreSqlOperationRecords {
        private final PostgreSqlOperationSql sql;
        private final Gate between;

        LooksUpBeforeItLocks(PostgreSqlOperationSql sql, Gate between) {
            super(sql, Duration.ofSeconds(1));
            this.sql = sql;
            this.between = between;
        }

        @Override
        Look look(Connection connection, TransactionLimits limits, RecordId id) throws SQLException {
            Look seen = new TakesNoLock(sql).look(connection, limits, id);
            between.pass();
            return new Look(
                    seen.nowMicros(),
                    seen.nowMicros(),
                    super.look(connection, limits, id).isLocked(),
                    seen.row());
        }
    }

    // Rule T6: absence proves something only under the claim's lock.

    @Test
    void absenceWithoutTheLock_aCommitIsStillUnderWay_isTakenForProofAndWrong() throws Exception {
        ClaimRequest request = freshRequest();
        JdbiIdempotencyStore mutant = store(
                database.dataSource(), (names, limits) -> new TakesNoLock(new PostgreSqlOperationSql(names, limits)));

        List<ClaimOutcome> answers = whileACommitIsUnderWay(request, mutant);

        assertThat(answers.get(0))
                .as("without the lock the absent record says that nothing was committed")
                .isInstanceOf(ClaimOutcome.Acquired.class);
        assertThat(answers.get(1))
                .as("with it the answer is that one cannot know yet")
                .isInstanceOf(ClaimOutcome.InProgress.class);
        assertThat(database.countEffects(effect(request)))
                .as("and the commit came through")
                .isEqualTo(1);
        assertThat(probe(store(), request)).isEqualTo(new ClaimOutcome.Completed(ANSWER));
    }

    /** A commit that waits in a deferred trigger, as one does whose disk or standby is slow; answers of mutant and ours. */
    private List<ClaimOutcome> whileACommitIsUnderWay(ClaimRequest request, JdbiIdempotencyStore mutant)
            throws Exception {
        database.execute("CREATE TABLE slow (id int)");
        database.execute("""
                CREATE FUNCTION wait_at_commit() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NULL; END'
                """);
        database.execute("""
                CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT ON slow
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_at_commit()
                """);
        List<ClaimOutcome> answers = new ArrayList<>();
        try (Connection holder = database.database().dataSource().getConnection()) {
            TestDatabase.number(holder, "SELECT 1 FROM pg_advisory_lock(4711)");
            CompletableFuture<Void> commit = CompletableFuture.runAsync(() -> commitSlowly(request));
            awaitWaiter(holder);
            answers.add(probe(mutant, request));
            answers.add(probe(store(), request));
            TestDatabase.number(holder, "SELECT 1 FROM pg_advisory_unlock(4711)");
            commit.get(60, TimeUnit.SECONDS);
        }
        return answers;
    }

    private void commitSlowly(ClaimRequest request) {
        runner().run(LIMITS.withLockWait(DEADLINE), transaction -> {
            JdbiIdempotencyStore store = store();
            ClaimOutcome.Acquired acquired = (ClaimOutcome.Acquired) store.claim(transaction, request);
            database.addEffect(transaction, effect(request));
            execute(transaction, "INSERT INTO slow VALUES (1)");
            store.complete(transaction, acquired.claim(), ANSWER);
            return true;
        });
    }

    private static void awaitWaiter(Connection connection) {
        long end = System.nanoTime() + DEADLINE.toNanos();
        while (TestDatabase.number(
                        connection, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
                == 0) {
            assertThat(System.nanoTime()).as("time for the commit to begin").isLessThan(end);
            Thread.onSpinWait();
        }
    }

    private static final class TakesNoLock extends PostgreSqlOperationRecords {
        private final PostgreSqlOperationSql sql;

        TakesNoLock(PostgreSqlOperationSql sql) {
            super(sql, Duration.ofSeconds(1));
            this.sql = sql;
        }

        @Override
        Look look(Connection connection, TransactionLimits limits, RecordId id) throws SQLException {
            long now = TestDatabase.number(connection, "SELECT " + sql.micros(sql.now()));
            try (PreparedStatement statement = connection.prepareStatement(sql.findRow())) {
                bindId(Parameters.of(statement), id);
                try (ResultSet rows = statement.executeQuery()) {
                    return new Look(now, now, true, rows.next() ? StoredRecord.read(rows) : null);
                }
            }
        }
    }

    // Rule T2: the library's statement is the last one, and proves that it runs in the claim's transaction.

    @Test
    void swallowedError_withoutAStatementAfterIt_commitReturnsAndNothingIsThere() throws SQLException {
        ClaimRequest request = freshRequest();
        try (Connection connection = database.database().dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("INSERT INTO effect VALUES ('" + effect(request) + "')");
            assertThatThrownBy(() -> statement.execute("SELECT 1 / 0")).isInstanceOf(SQLException.class);
            connection.commit();
        }

        assertThat(database.countEffects(effect(request)))
                .as("the driver's commit() returned normally, the server had rolled back")
                .isZero();
    }

    @Test
    void swallowedError_theCompletionFindsIt() {
        ClaimRequest request = freshRequest();

        assertThatThrownBy(() -> swallowing(runner(), store(), request, "SELECT 1 / 0"))
                .isInstanceOf(TransactionLostException.class);

        assertNothingLeft(request);
    }

    @Test
    void swallowedError_withAutosaveAndNoRefusal_commitsTheMarkWithoutTheEffect() throws SQLException {
        ClaimRequest request = freshRequest();
        DataSource savesAlways = database.database().dataSource(Map.of("autosave", "always"));
        JdbiIdempotencyStore mutant = store(
                database.dataSource(),
                (names, limits) -> new RefusesNoAutosave(new PostgreSqlOperationSql(names, limits)));

        swallowing(new Unguarded(savesAlways), mutant, request, "INSERT INTO effect SELECT repeat('x', 301)");

        assertThat(database.countEffects("swallowed")).isZero();
        assertThat(probe(store(), request))
                .as("the record says done, and a part of the effect is missing")
                .isEqualTo(new ClaimOutcome.Completed(ANSWER));
    }

    @Test
    void autosaveAlways_isRefusedByRunnerAndStore() {
        DataSource savesAlways = database.database().dataSource(Map.of("autosave", "always"));

        assertThatIllegalStateException()
                .isThrownBy(() -> JdbiTransactionRunner.of(savesAlways).run(LIMITS, transaction -> true))
                .withMessageContaining("autosave");
        assertThatIllegalStateException()
                .isThrownBy(() -> JdbiIdempotencyStore.of(savesAlways))
                .withMessageContaining("autosave");
        assertThatIllegalStateException()
                .isThrownBy(() -> new Unguarded(savesAlways)
                        .run(LIMITS, transaction -> store().claim(transaction, freshRequest())))
                .withMessageContaining("autosave");
    }

    @Test
    void textualRollback_withoutTheProof_commitsTheMarkWithoutTheEffect() {
        ClaimRequest request = freshRequest();
        JdbiIdempotencyStore mutant = store(
                database.dataSource(),
                (names, limits) ->
                        new PostgreSqlOperationRecords(new ProvesNothing(names, limits), Duration.ofSeconds(1)));

        swallowing(new Unguarded(database.dataSource()), mutant, request, "ROLLBACK");

        assertThat(database.countEffects(effect(request))).isZero();
        assertThat(probe(store(), request))
                .as("the record says done, and the effect is gone")
                .isEqualTo(new ClaimOutcome.Completed(ANSWER));
    }

    @Test
    void textualRollback_theProofFindsIt() {
        ClaimRequest request = freshRequest();

        assertThatThrownBy(() -> swallowing(new Unguarded(database.dataSource()), store(), request, "ROLLBACK"))
                .isInstanceOf(TransactionLostException.class);

        assertNothingLeft(request);
    }

    @Test
    void textualCommit_theProofFindsIt() {
        ClaimRequest request = freshRequest();

        assertThatThrownBy(() -> swallowing(new Unguarded(database.dataSource()), store(), request, "COMMIT"))
                .isInstanceOf(TransactionLostException.class)
                .hasMessageContaining("COMMIT");
    }

    /** The effect stands before the statement: without the refusal it is committed without a record, and comes again. */
    @ParameterizedTest
    @ValueSource(strings = {"COMMIT", "ROLLBACK", "INSERT INTO effect VALUES ('other'); COMMIT", "BEGIN"})
    void textThatControlsTheTransaction_theGuardRefusesIt(String sql) {
        ClaimRequest request = freshRequest();

        assertThatThrownBy(() -> swallowing(runner(), store(), request, sql)).isInstanceOf(RolledBackException.class);

        assertNothingLeft(request);
        assertThat(database.countEffects("other")).isZero();
    }

    private void assertNothingLeft(ClaimRequest request) {
        assertThat(database.countEffects(effect(request))).isZero();
        assertThat(probe(store(), request)).isInstanceOf(ClaimOutcome.Acquired.class);
    }

    /** Claim, effect, a statement whose error is swallowed, completion. */
    private void swallowing(TransactionRunner runner, JdbiIdempotencyStore store, ClaimRequest request, String sql) {
        runner.run(LIMITS, transaction -> {
            ClaimOutcome.Acquired acquired = (ClaimOutcome.Acquired) store.claim(transaction, request);
            database.addEffect(transaction, effect(request));
            try {
                execute(transaction, sql);
            } catch (IdempotencyException e) {
                assertThat(e).hasCauseInstanceOf(SQLException.class);
            }
            store.complete(transaction, acquired.claim(), ANSWER);
            return true;
        });
    }

    private static void execute(Transaction transaction, String sql) {
        try (Statement statement = transaction.unwrap(Connection.class).createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw SqlErrors.translate("A statement of the work", e);
        }
    }

    private static final class RefusesNoAutosave extends PostgreSqlOperationRecords {
        RefusesNoAutosave(PostgreSqlOperationSql sql) {
            super(sql, Duration.ofSeconds(1));
        }

        @Override
        void refuseUnsafe(Connection connection) {
            // The rule that is taken out.
        }
    }

    private static final class ProvesNothing extends PostgreSqlOperationSql {
        ProvesNothing(TableNames names, PostgreSqlLimits limits) {
            super(names, limits);
        }

        @Override
        String completeTransaction() {
            return super.completeTransaction()
                    .replace("WHERE " + micros(now()) + " = ?", "WHERE ?::bigint IS NOT NULL");
        }
    }
}
