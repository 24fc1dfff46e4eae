package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.RecordedResult.Replayable;
import dev.idempotency.Scope;
import dev.idempotency.StoreConflictException;
import dev.idempotency.TransactionLostException;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.transaction.RolledBackException;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A deadlock that the work swallows: H2 has rolled back, and the next statement begins a new transaction. */
class H2CounterScheduleTest {
    private static final TransactionLimits LIMITS = TransactionLimits.ofDefaults();
    private static final Replayable ANSWER = new Replayable(201, new byte[0], new byte[] {1});

    private static final ClaimRequest REQUEST = new ClaimRequest(
            new RecordId(Scope.shared("counter"), IdempotencyKey.of("key")),
            Fingerprint.none(),
            Duration.ofHours(1),
            AbandonedPolicy.REPORT_UNKNOWN);

    private final H2TestDatabase database = new H2TestDatabase();
    private final TransactionRunner guarded = JdbiTransactionRunner.of(database.dataSource());
    private final TransactionRunner unguarded = new Unguarded(database.dataSource());
    private final JdbiIdempotencyStore store = JdbiIdempotencyStore.of(database.dataSource());

    private Adversary adversary;

    @BeforeEach
    void prepare() {
        database.execute("CREATE TABLE account (id int PRIMARY KEY, balance int)");
        database.execute("INSERT INTO account VALUES (1, 0), (2, 0)");
        adversary = new Adversary();
    }

    @AfterEach
    void close() {
        adversary.awaitEnd();
        database.close();
    }

    @Test
    void swallowedDeadlock_completionThatInsertsIfNeedBe_commitsTheMarkWithoutTheEffect() {
        JdbiIdempotencyStore mutant = new JdbiIdempotencyStore(
                StoreDatabase.connect(database.dataSource(), TableNames.ofDefaults(), SchemaSubject.OPERATIONS),
                new InsertsIfNeedBe(new H2OperationSql(TableNames.ofDefaults())),
                LIMITS);

        loseADeadlock(unguarded, mutant);

        assertThat(database.countEffects("effect")).isZero();
        assertThat(probe())
                .as("the record says done, and the effect is gone")
                .isEqualTo(new ClaimOutcome.Completed(ANSWER));
    }

    @Test
    void swallowedDeadlock_theCompletionFindsItsRowGone() {
        assertThatThrownBy(() -> loseADeadlock(unguarded, store)).isInstanceOf(TransactionLostException.class);

        assertThat(database.countEffects("effect")).isZero();
        assertThat(probe()).isInstanceOf(ClaimOutcome.Acquired.class);
    }

    @Test
    void swallowedDeadlock_theGuardedConnectionRemembersIt() {
        assertThatThrownBy(() -> guarded.run(LIMITS, transaction -> {
                    database.addEffect(transaction, "effect");
                    beTheVictim(transaction);
                    return true;
                }))
                .isInstanceOf(RolledBackException.class);

        assertThat(database.countEffects("effect")).isZero();
    }

    @Test
    void textualCommit_theGuardRefusesItBeforeAnythingIsCommitted() {
        assertThatThrownBy(() -> guarded.run(LIMITS, transaction -> {
                    store.claim(transaction, REQUEST);
                    database.addEffect(transaction, "effect");
                    execute(transaction, "COMMIT");
                    return true;
                }))
                .hasRootCauseInstanceOf(SQLException.class)
                .hasStackTraceContaining("The statement COMMIT refused");

        assertThat(database.countEffects("effect")).isZero();
        assertThat(probe()).isInstanceOf(ClaimOutcome.Acquired.class);
    }

    @Test
    void textualCommit_theCompletionFindsIt() {
        assertThatThrownBy(() -> unguarded.run(LIMITS, transaction -> {
                    ClaimOutcome.Acquired acquired = (ClaimOutcome.Acquired) store.claim(transaction, REQUEST);
                    execute(transaction, "COMMIT");
                    store.complete(transaction, acquired.claim(), ANSWER);
                    return true;
                }))
                .isInstanceOf(TransactionLostException.class);

        assertThat(probe())
                .as("what was committed too early is in doubt and does not run again")
                .isEqualTo(new ClaimOutcome.Abandoned());
    }

    private ClaimOutcome probe() {
        return guarded.run(LIMITS, transaction -> {
            transaction.setRollbackOnly();
            return store.claim(transaction, REQUEST);
        });
    }

    private void loseADeadlock(TransactionRunner runner, JdbiIdempotencyStore used) {
        runner.run(LIMITS, transaction -> {
            ClaimOutcome.Acquired acquired = (ClaimOutcome.Acquired) used.claim(transaction, REQUEST);
            database.addEffect(transaction, "effect");
            beTheVictim(transaction);
            used.complete(transaction, acquired.claim(), ANSWER);
            return true;
        });
    }

    /** H2 chooses the youngest transaction of the circle, so the other one begins first. */
    private void beTheVictim(Transaction transaction) {
        execute(transaction, "UPDATE account SET balance = 1 WHERE id = 1");
        adversary.goOn();
        awaitBlocked();
        try {
            execute(transaction, "UPDATE account SET balance = 1 WHERE id = 2");
            throw new AssertionError("There was no deadlock");
        } catch (StoreConflictException e) {
            adversary.awaitEnd();
        }
    }

    /** Holds account 2, then wants account 1. */
    private final class Adversary {
        private final CompletableFuture<Boolean> holdsTwo = new CompletableFuture<>();
        private final CompletableFuture<Boolean> mayGoOn = new CompletableFuture<>();
        private final CompletableFuture<Void> end;

        Adversary() {
            end = CompletableFuture.runAsync(this::run);
            holdsTwo.orTimeout(60, TimeUnit.SECONDS).join();
        }

        private void run() {
            try (Connection connection = database.dataSource().getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute("SET LOCK_TIMEOUT 60000");
                connection.setAutoCommit(false);
                statement.execute("UPDATE account SET balance = 2 WHERE id = 2");
                holdsTwo.complete(true);
                if (mayGoOn.orTimeout(60, TimeUnit.SECONDS).join()) {
                    statement.execute("UPDATE account SET balance = 2 WHERE id = 1");
                }
                connection.rollback();
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        void goOn() {
            mayGoOn.complete(true);
        }

        void awaitEnd() {
            mayGoOn.complete(false);
            end.orTimeout(60, TimeUnit.SECONDS).join();
        }
    }

    private void awaitBlocked() {
        long end = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        try (Connection connection = database.dataSource().getConnection()) {
            while (TestDatabase.number(
                            connection, "SELECT COUNT(*) FROM INFORMATION_SCHEMA.SESSIONS WHERE BLOCKER_ID IS NOT NULL")
                    == 0) {
                assertThat(System.nanoTime()).isLessThan(end);
                Thread.onSpinWait();
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void execute(Transaction transaction, String sql) {
        try (Statement statement = transaction.unwrap(Connection.class).createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw SqlErrors.translate("A statement of the work", e);
        }
    }

    /** What one would write without having read rule T2. */
    private static final class InsertsIfNeedBe extends H2OperationRecords {
        private final H2OperationSql sql;

        InsertsIfNeedBe(H2OperationSql sql) {
            super(sql, Duration.ofSeconds(1));
            this.sql = sql;
        }

        @Override
        void complete(Connection connection, Claim claim, RecordedResult result) throws SQLException {
            try (PreparedStatement statement = connection.prepareStatement(sql.complete())) {
                bindClaim(bindResult(Parameters.of(statement), result), claim);
                if (statement.executeUpdate() == 1) {
                    return;
                }
            }
            Look nothing = new Look(claim.token(), claim.token(), true, null);
            ClaimOutcome written = writeClaim(connection, claim.request(), nothing, Duration.ofSeconds(1), "")
                    .orElseThrow();
            try (PreparedStatement statement = connection.prepareStatement(sql.complete())) {
                bindClaim(bindResult(Parameters.of(statement), result), ((ClaimOutcome.Acquired) written).claim());
                assertThat(statement.executeUpdate()).isEqualTo(1);
            }
        }
    }
}
