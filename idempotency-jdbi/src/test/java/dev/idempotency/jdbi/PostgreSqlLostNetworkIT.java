package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyException;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult.Replayable;
import dev.idempotency.Scope;
import dev.idempotency.StoreUnavailableException;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.testkit.fault.Fault;
import dev.idempotency.testkit.fault.FaultInjectingDataSource;
import dev.idempotency.testkit.fault.JdbcPoint;
import dev.idempotency.testkit.fault.TcpProxy;
import dev.idempotency.testkit.service.EmbeddedPostgreSql;
import dev.idempotency.transaction.OutcomeUnknownException;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/** A network that stops in the middle: cut, silent, or not there at all. */
class PostgreSqlLostNetworkIT {
    private static final TransactionLimits LIMITS =
            TransactionLimits.ofDefaults().withStatement(Duration.ofMillis(500));

    private static final Replayable ANSWER = new Replayable(201, new byte[0], new byte[] {1});

    private static final ClaimRequest REQUEST = new ClaimRequest(
            new RecordId(Scope.shared("network"), IdempotencyKey.of("key")),
            Fingerprint.none(),
            Duration.ofHours(1),
            AbandonedPolicy.REPORT_UNKNOWN);

    private final PostgreSqlTestDatabase database = new PostgreSqlTestDatabase();
    private final TcpProxy proxy = TcpProxy.to(EmbeddedPostgreSql.shared().port());
    private HikariDataSource pool;

    @BeforeEach
    void connect() {
        PGSimpleDataSource throughProxy = new PGSimpleDataSource();
        throughProxy.setUrl(database.database().url(proxy.port()));
        HikariConfig config = new HikariConfig();
        config.setDataSource(throughProxy);
        config.setMaximumPoolSize(2);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(500);
        pool = new HikariDataSource(config);
    }

    @AfterEach
    void close() {
        proxy.resume();
        pool.close();
        proxy.close();
        database.close();
    }

    private JdbiTransactionRunner runner() {
        return JdbiTransactionRunner.of(pool);
    }

    private JdbiIdempotencyStore store() {
        return JdbiIdempotencyStore.builder(pool).limits(LIMITS).build();
    }

    private void assertPoolIsHealthy() {
        for (int i = 0; i < 10; i++) {
            assertThat(runner().<Integer, RuntimeException>run(LIMITS, transaction -> 1))
                    .isEqualTo(1);
        }
    }

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // a read of a socket cannot be interrupted
    void commit_answerNeverComes_isUnknownWithinABound() {
        JdbiIdempotencyStore store = store();

        assertThatThrownBy(() -> runner().run(LIMITS, transaction -> {
                    ClaimOutcome.Acquired acquired = (ClaimOutcome.Acquired) store.claim(transaction, REQUEST);
                    database.addEffect(transaction, "silent");
                    store.complete(transaction, acquired.claim(), ANSWER);
                    proxy.stall(TcpProxy.Direction.TO_CLIENT);
                    return true;
                }))
                .isInstanceOf(OutcomeUnknownException.class);

        assertThat(database.countEffects("silent"))
                .as("the server has committed, and only its answer is missing")
                .isEqualTo(1);
        proxy.cut();
        proxy.resume();
        assertPoolIsHealthy();
    }

    @Test
    void commit_answerLost_isUnknown() {
        JdbiIdempotencyStore store = store();

        assertThatThrownBy(() -> runner().run(LIMITS, transaction -> {
                    ClaimOutcome.Acquired acquired = (ClaimOutcome.Acquired) store.claim(transaction, REQUEST);
                    store.complete(transaction, acquired.claim(), ANSWER);
                    proxy.loseAnswerTo("COMMIT");
                    return true;
                }))
                .isInstanceOf(OutcomeUnknownException.class);

        assertPoolIsHealthy();
        ClaimOutcome outcome = runner().run(LIMITS, transaction -> {
            transaction.setRollbackOnly();
            return store.claim(transaction, REQUEST);
        });
        assertThat(outcome).isEqualTo(new ClaimOutcome.Completed(ANSWER));
    }

    @Test
    void leasedClaim_commitAnswerLost_isFoundOut() {
        JdbiIdempotencyStore store = store();
        proxy.loseAnswerTo("COMMIT");

        ClaimOutcome outcome = store.claim(REQUEST, Duration.ofMinutes(1));

        assertThat(proxy.answerLost()).isTrue();
        assertThat(outcome).isInstanceOf(ClaimOutcome.Acquired.class);
        assertThat(store.complete(((ClaimOutcome.Acquired) outcome).claim(), ANSWER))
                .isTrue();
    }

    @Test
    void everything_noServer_isUnavailable() {
        JdbiIdempotencyStore store = store();
        ClaimOutcome.Acquired acquired = (ClaimOutcome.Acquired) store.claim(REQUEST, Duration.ofMinutes(1));
        proxy.refuse();
        proxy.cut();

        Map<String, Runnable> calls = Map.of(
                "claim", () -> store.claim(REQUEST, Duration.ofMinutes(1)),
                "extend", () -> store.extend(acquired.claim(), Duration.ofMinutes(1)),
                "complete", () -> store.complete(acquired.claim(), ANSWER),
                "release", () -> store.release(acquired.claim()),
                "forget", () -> store.forget(REQUEST.id()),
                "forgetCaller", () -> store.forgetCaller(REQUEST.id().scope(), 1),
                "deleteExpired", () -> store.deleteExpired(1));
        calls.forEach(PostgreSqlLostNetworkIT::assertUnavailable);
        // A connection that the pool still takes for alive would do for a transaction without statements.
        pool.getHikariPoolMXBean().softEvictConnections();
        assertUnavailable("run", () -> runner().run(LIMITS, transaction -> true));
        assertUnavailable("build", () -> JdbiIdempotencyStore.of(pool));

        proxy.resume();
        awaitConnection();
        assertThat(store.complete(acquired.claim(), ANSWER)).isTrue();
    }

    private static void assertUnavailable(String name, Runnable call) {
        assertThatThrownBy(call::run)
                .as(name)
                .isInstanceOfSatisfying(
                        IdempotencyException.class,
                        e -> assertThat(e.getClass()).as(name).isEqualTo(StoreUnavailableException.class));
    }

    /** The pool tries again at intervals of its own. */
    private void awaitConnection() {
        long end = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (true) {
            try (Connection connection = pool.getConnection()) {
                assertThat(connection.isValid(60)).isTrue();
                return;
            } catch (SQLException e) {
                assertThat(System.nanoTime()).as("time for the pool to recover").isLessThan(end);
            }
        }
    }

    /** A claim whose connection is cut while its COMMIT is under way: only the lock tells when that has ended. */
    @Test
    void leasedClaim_cutWhileItsCommitIsUnderWay_waitsForItsEnd() throws Exception {
        database.execute("""
                CREATE FUNCTION wait_at_commit() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NULL; END'
                """);
        database.execute("""
                CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT ON idempotency_record
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_at_commit()
                """);
        JdbiIdempotencyStore store = JdbiIdempotencyStore.builder(pool)
                .limits(LIMITS.withLockWait(Duration.ofSeconds(30)).withStatement(Duration.ofSeconds(40)))
                .build();
        try (Connection holder = database.database().dataSource().getConnection()) {
            TestDatabase.number(holder, "SELECT 1 FROM pg_advisory_lock(4711)");
            CompletableFuture<ClaimOutcome> claim =
                    CompletableFuture.supplyAsync(() -> store.claim(REQUEST, Duration.ofMinutes(1)));
            long committing = awaitNumber(
                    holder,
                    "SELECT coalesce(max(pid), 0) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted",
                    pid -> pid != 0);
            proxy.cut();
            awaitNumber(
                    holder,
                    "SELECT count(*) FROM pg_stat_activity WHERE pid = " + committing,
                    sessions -> sessions == 0);
            TestDatabase.number(holder, "SELECT 1 FROM pg_advisory_unlock(4711)");
            ClaimOutcome outcome = claim.get(60, TimeUnit.SECONDS);
            assertThat(outcome).isInstanceOf(ClaimOutcome.Acquired.class);
            assertThat(store.complete(((ClaimOutcome.Acquired) outcome).claim(), ANSWER))
                    .isTrue();
        }
    }

    private static long awaitNumber(Connection connection, String query, LongPredicate wanted) {
        long end = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        long number = TestDatabase.number(connection, query);
        while (!wanted.test(number)) {
            assertThat(System.nanoTime()).as(query).isLessThan(end);
            number = TestDatabase.number(connection, query);
        }
        return number;
    }

    @Test
    void run_afterwards_theConnectionsNetworkTimeoutIsAsBefore() throws SQLException {
        try (Connection connection = pool.getConnection()) {
            assertThat(connection.getNetworkTimeout()).isZero();
        }
        runner().run(LIMITS, transaction -> {
            assertThat(networkTimeout(transaction.unwrap(Connection.class))).isBetween(500, 10_000);
            return true;
        });
        try (Connection connection = pool.getConnection()) {
            assertThat(connection.getNetworkTimeout()).isZero();
        }
    }

    @Test
    void run_poolThatRestoresNothing_getsTheNetworkTimeoutBack() throws SQLException {
        try (Connection connection = database.database().dataSource().getConnection()) {
            for (int before : new int[] {0, 1_000_000, 4000}) {
                connection.setNetworkTimeout(Runnable::run, before);
                JdbiTransactionRunner.of(Lending.of(connection)).run(LIMITS, transaction -> {
                    assertThat(networkTimeout(transaction.unwrap(Connection.class)))
                            .as("a shorter one is left alone")
                            .isEqualTo(before == 4000 ? 4000 : 5500);
                    return true;
                });
                assertThat(connection.getNetworkTimeout()).isEqualTo(before);
            }
        }
    }

    @Test
    void run_commitUnknown_closesTheConnectionUnderAPoolThatDoesNotLook() throws SQLException {
        try (Connection connection = database.database().dataSource().getConnection()) {
            FaultInjectingDataSource faults = FaultInjectingDataSource.wrap(Lending.of(connection));
            faults.inject(JdbcPoint.BEFORE_COMMIT, Fault.error("XX000"));

            assertThatThrownBy(() -> JdbiTransactionRunner.of(faults).run(LIMITS, transaction -> true))
                    .isInstanceOf(OutcomeUnknownException.class);

            assertThat(connection.isClosed()).isTrue();
        }
    }

    private static int networkTimeout(Connection connection) {
        try {
            return connection.getNetworkTimeout();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
