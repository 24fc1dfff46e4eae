package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyException;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult.Replayable;
import dev.idempotency.Scope;
import dev.idempotency.StoreConflictException;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Every wait has a bound (rule T9): what the claim puts in force, and that it ends what hangs. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PostgreSqlLimitsIT {
    private static final Replayable ANSWER = new Replayable(201, new byte[0], new byte[] {1});

    private final PostgreSqlTestDatabase database = new PostgreSqlTestDatabase();
    private final JdbiIdempotencyStore store = JdbiIdempotencyStore.of(database.dataSource());
    private final TransactionRunner runner = JdbiTransactionRunner.of(database.dataSource());
    private int keys;

    @AfterAll
    void close() {
        database.close();
    }

    private ClaimRequest freshRequest() {
        keys++;
        return new ClaimRequest(
                new RecordId(Scope.shared("limits"), IdempotencyKey.of("key-" + keys)),
                Fingerprint.none(),
                Duration.ofHours(1),
                AbandonedPolicy.REPORT_UNKNOWN);
    }

    private static String show(Connection connection, String setting) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SHOW " + setting)) {
            rows.next();
            return rows.getString(1);
        }
    }

    @Test
    void claim_putsTheLimitsInForceForTheTransactionOnly() throws SQLException {
        TransactionLimits limits =
                new TransactionLimits(Duration.ofMillis(1234), Duration.ofMillis(2345), Duration.ofMillis(3456));
        runner.run(limits, transaction -> {
            store.claim(transaction, freshRequest());
            Connection connection = transaction.unwrap(Connection.class);
            assertThat(show(connection, "lock_timeout")).isEqualTo("1234ms");
            assertThat(show(connection, "statement_timeout")).isEqualTo("2345ms");
            assertThat(show(connection, "idle_in_transaction_session_timeout")).isEqualTo("3456ms");
            assertThat(show(connection, "client_connection_check_interval")).isEqualTo("1s");
            assertThat(show(connection, "tcp_keepalives_idle")).isEqualTo("5");
            return true;
        });

        for (int i = 0; i < 20; i++) {
            try (Connection connection = database.dataSource().getConnection()) {
                assertThat(show(connection, "lock_timeout")).isEqualTo("0");
                assertThat(show(connection, "statement_timeout")).isEqualTo("0");
                assertThat(show(connection, "idle_in_transaction_session_timeout"))
                        .isEqualTo("0");
            }
        }
    }

    /** A process that was stopped keeps its connection; only the server's own clock can free the key. */
    @Test
    void claim_ownerStopsMoving_isCutOffAndTheKeyIsFree() {
        ClaimRequest request = freshRequest();
        TransactionLimits limits = TransactionLimits.ofDefaults().withIdle(Duration.ofMillis(500));

        assertThatThrownBy(() -> runner.run(limits, transaction -> {
                    assertThat(store.claim(transaction, request)).isInstanceOf(ClaimOutcome.Acquired.class);
                    database.addEffect(transaction, "stopped");
                    CompletableFuture.runAsync(() -> awaitAcquired(request))
                            .orTimeout(60, TimeUnit.SECONDS)
                            .join();
                    return true;
                }))
                .isInstanceOf(IdempotencyException.class);

        assertThat(database.countEffects("stopped")).isZero();
    }

    private void awaitAcquired(ClaimRequest request) {
        ClaimOutcome outcome;
        do {
            outcome = runner.run(TransactionLimits.ofDefaults(), transaction -> {
                transaction.setRollbackOnly();
                return store.claim(transaction, request);
            });
        } while (!(outcome instanceof ClaimOutcome.Acquired));
    }

    /** A row in the record's place that is not committed, written by something that takes no advisory lock. */
    @Test
    void complete_rowInItsPlaceIsNotCommitted_waitsNoLongerThanTheLimit() throws SQLException {
        ClaimRequest request = freshRequest();
        ClaimRequest other = freshRequest();
        runner.run(TransactionLimits.ofDefaults(), transaction -> {
            ClaimOutcome.Acquired acquired = (ClaimOutcome.Acquired) store.claim(transaction, other);
            store.complete(transaction, acquired.claim(), ANSWER);
            return true;
        });
        try (Connection stranger = database.dataSource().getConnection();
                Statement statement = stranger.createStatement()) {
            stranger.setAutoCommit(false);
            assertThat(statement.executeUpdate("UPDATE idempotency_record SET idempotency_key = '"
                            + request.id().key().value() + "' WHERE idempotency_key = '"
                            + other.id().key().value() + "'"))
                    .isEqualTo(1);

            assertThatThrownBy(() -> runner.run(
                            TransactionLimits.ofDefaults().withLockWait(Duration.ofMillis(200)), transaction -> {
                                ClaimOutcome.Acquired acquired =
                                        (ClaimOutcome.Acquired) store.claim(transaction, request);
                                store.complete(transaction, acquired.claim(), ANSWER);
                                return true;
                            }))
                    .isInstanceOf(StoreConflictException.class);
            stranger.rollback();
            stranger.setAutoCommit(true);
        }
    }
}
