package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult.Replayable;
import dev.idempotency.Scope;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A key past its retention is refused while its tombstone stands, swept or not, and runs anew when that has ended. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class SqlTombstoneContract {
    private static final Duration RETENTION = Duration.ofHours(1);
    private static final Duration TOMBSTONE = Duration.ofDays(7);
    private static final Duration LEASE = Duration.ofMinutes(1);
    private static final Replayable ANSWER =
            new Replayable(201, new byte[] {1}, "the answer".getBytes(StandardCharsets.UTF_8));

    private TestDatabase database;
    private JdbiIdempotencyStore store;
    private TransactionRunner runner;

    abstract TestDatabase open();

    @BeforeAll
    void start() {
        database = open();
        store = JdbiIdempotencyStore.builder(database.dataSource())
                .tombstones(TOMBSTONE)
                .build();
        runner = JdbiTransactionRunner.of(database.dataSource());
    }

    @AfterAll
    void close() {
        database.close();
    }

    @BeforeEach
    void empty() {
        database.execute("DELETE FROM idempotency_record");
    }

    private static ClaimRequest request(AbandonedPolicy policy) {
        return new ClaimRequest(
                new RecordId(Scope.shared("tombstones"), IdempotencyKey.of("key")),
                Fingerprint.sha256("test", new byte[] {1}),
                RETENTION,
                policy);
    }

    private static ClaimRequest request() {
        return request(AbandonedPolicy.RUN_AGAIN);
    }

    /** Runs under the key if that may be, in either protection. */
    private ClaimOutcome claim(boolean leased) {
        if (leased) {
            ClaimOutcome outcome = store.claim(request(), LEASE);
            if (outcome instanceof ClaimOutcome.Acquired acquired) {
                assertThat(store.complete(acquired.claim(), ANSWER)).isTrue();
            }
            return outcome;
        }
        return runner.<ClaimOutcome, RuntimeException>run(TransactionLimits.ofDefaults(), transaction -> {
            ClaimOutcome outcome = store.claim(transaction, request());
            if (outcome instanceof ClaimOutcome.Acquired acquired) {
                store.complete(transaction, acquired.claim(), ANSWER);
            } else {
                transaction.setRollbackOnly();
            }
            return outcome;
        });
    }

    final TestDatabase database() {
        return database;
    }

    final void claimAndLetExpire() {
        claim(false);
        database.passTime(RETENTION.plusMinutes(1));
    }

    final int forgetCaller() {
        return store.forgetCaller(request().id().scope(), 10);
    }

    final long count(String condition) {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM idempotency_record WHERE " + condition)) {
            rows.next();
            return rows.getLong(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void claim_pastRetentionAndNotSwept_isExpiredUntilTheTombstoneEnds(boolean leased) {
        assertThat(claim(leased)).isInstanceOf(ClaimOutcome.Acquired.class);
        database.passTime(RETENTION.minusSeconds(30));
        assertThat(claim(leased)).isEqualTo(new ClaimOutcome.Completed(ANSWER));
        database.passTime(Duration.ofMinutes(1));
        assertThat(claim(leased)).isEqualTo(new ClaimOutcome.Expired());
        database.passTime(TOMBSTONE.minusMinutes(1));
        assertThat(claim(leased)).isEqualTo(new ClaimOutcome.Expired());
        database.passTime(Duration.ofMinutes(1));
        assertThat(claim(leased)).isInstanceOf(ClaimOutcome.Acquired.class);
        assertThat(claim(leased)).isEqualTo(new ClaimOutcome.Completed(ANSWER));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void claim_sweptRecord_isExpiredUntilTheTombstoneEnds(boolean leased) {
        claim(leased);
        database.passTime(RETENTION.plusMinutes(1));
        assertThat(store.deleteExpired(10)).isEqualTo(1);
        assertThat(claim(leased)).isEqualTo(new ClaimOutcome.Expired());
        database.passTime(TOMBSTONE.minusMinutes(2));
        assertThat(claim(leased)).isEqualTo(new ClaimOutcome.Expired());
        database.passTime(Duration.ofMinutes(2));
        assertThat(claim(leased)).isInstanceOf(ClaimOutcome.Acquired.class);
    }

    @Test
    void sweep_pastRetention_keepsNothingOfTheAnswerAndPassesOverTheTombstoneAfterwards() {
        claim(false);
        database.passTime(RETENTION.plusMinutes(1));
        assertThat(store.deleteExpired(10)).isEqualTo(1);
        assertThat(count("result_status IS NULL AND result_metadata IS NULL AND result_body IS NULL"))
                .isEqualTo(1);
        assertThat(store.deleteExpired(10)).isZero();
        database.passTime(TOMBSTONE);
        assertThat(store.deleteExpired(10)).isEqualTo(1);
        assertThat(count("1 = 1")).isZero();
    }

    @Test
    void sweep_moreThanItsLimit_comesBackForTheRest() {
        for (int i = 0; i < 5; i++) {
            ClaimRequest request = new ClaimRequest(
                    new RecordId(Scope.shared("tombstones"), IdempotencyKey.of("key-" + i)),
                    Fingerprint.none(),
                    RETENTION,
                    AbandonedPolicy.RUN_AGAIN);
            Claim claim = ((ClaimOutcome.Acquired) store.claim(request, LEASE)).claim();
            store.complete(claim, ANSWER);
        }
        database.passTime(RETENTION.plusMinutes(1));
        assertThat(store.deleteExpired(2)).isEqualTo(2);
        assertThat(store.deleteExpired(2)).isEqualTo(2);
        assertThat(store.deleteExpired(2)).isEqualTo(1);
        assertThat(store.deleteExpired(2)).isZero();
        assertThat(count("status = 5")).isEqualTo(5);
    }

    @Test
    void sweep_afterTheTombstonesEnd_deletesWhatWasNeverBuried() {
        claim(true);
        database.passTime(RETENTION.plus(TOMBSTONE).plusMinutes(1));
        assertThat(store.deleteExpired(10)).isEqualTo(1);
        assertThat(count("1 = 1")).isZero();
    }

    /** The effect of an owner that vanished may have happened, so its key is not free either. */
    @Test
    void claim_abandonedAndPastRetention_isExpired() {
        assertThat(store.claim(request(), LEASE)).isInstanceOf(ClaimOutcome.Acquired.class);
        database.passTime(RETENTION.plusMinutes(1));
        assertThat(claim(true)).isEqualTo(new ClaimOutcome.Expired());
        assertThat(store.deleteExpired(10)).isEqualTo(1);
        assertThat(claim(true)).isEqualTo(new ClaimOutcome.Expired());
    }

    @Test
    void complete_buriedWhileItsOwnerWasAway_isRefused() {
        Claim claim = ((ClaimOutcome.Acquired) store.claim(request(), LEASE)).claim();
        database.passTime(RETENTION.plusMinutes(1));
        store.deleteExpired(10);
        assertThat(store.complete(claim, ANSWER)).isFalse();
        assertThat(count("result_body IS NOT NULL")).isZero();
    }

    @Test
    void release_leavesNoTombstone() {
        Claim claim = ((ClaimOutcome.Acquired) store.claim(request(), LEASE)).claim();
        assertThat(store.release(claim)).isTrue();
        assertThat(claim(true)).isInstanceOf(ClaimOutcome.Acquired.class);
    }

    @Test
    void claim_liveLeasePastRetention_isInProgressAndSurvivesTheSweep() {
        Claim claim = ((ClaimOutcome.Acquired) store.claim(request(), LEASE)).claim();
        database.passTime(RETENTION.plusMinutes(1));
        // The heartbeat was not late: to the database the lease still runs.
        database.execute("UPDATE idempotency_record SET lease_until = "
                + database.earlier("created_at")
                        .replace("?", Long.toString(-RETENTION.multipliedBy(3).toNanos() / 1000)));
        assertThat(store.deleteExpired(10)).isZero();
        assertThat(claim(true)).isInstanceOf(ClaimOutcome.InProgress.class);
        assertThat(store.complete(claim, ANSWER)).isTrue();
        assertThat(claim(true)).isEqualTo(new ClaimOutcome.Expired());
    }

    @Test
    void forget_tombstone_freesTheKey() {
        claim(false);
        database.passTime(RETENTION.plusMinutes(1));
        store.deleteExpired(10);
        assertThat(store.forget(request().id())).isTrue();
        assertThat(claim(false)).isInstanceOf(ClaimOutcome.Acquired.class);
        database.passTime(RETENTION.plusMinutes(1));
        assertThat(store.forgetCaller(request().id().scope(), 10)).isEqualTo(1);
        assertThat(claim(false)).isInstanceOf(ClaimOutcome.Acquired.class);
    }

    /** A process that was told of no tombstones honours those that it finds. */
    @Test
    void claim_tombstoneByAStoreThatKeepsNone_isExpired() {
        claim(false);
        database.passTime(RETENTION.plusMinutes(1));
        store.deleteExpired(10);
        JdbiIdempotencyStore other = JdbiIdempotencyStore.of(database.dataSource());
        assertThat(other.claim(request(), LEASE)).isEqualTo(new ClaimOutcome.Expired());
        assertThat(other.deleteExpired(10)).isZero();
    }

    @Test
    void tombstones_outOfRange_isRefused() {
        JdbiIdempotencyStore.Builder builder = JdbiIdempotencyStore.builder(database.dataSource());
        assertThatThrownBy(() -> builder.tombstones(Duration.ofMillis(999)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("tombstones");
        assertThatThrownBy(() -> builder.tombstones(Duration.ofDays(3661)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
