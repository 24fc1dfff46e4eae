package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.idempotency.transaction.JoiningDataSource;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a transaction of the runner gives beside its guarded connection. */
class JdbiTransactionTest {
    private static final TransactionLimits LIMITS = TransactionLimits.ofDefaults();

    private final H2TestDatabase database = new H2TestDatabase();
    private final JoiningDataSource joining = JoiningDataSource.of(database.dataSource());

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    void unwrap_handle_writesInTheTransaction() {
        JdbiTransactionRunner runner = JdbiTransactionRunner.of(database.dataSource());
        runner.run(LIMITS, transaction -> {
            Handle handle = transaction.unwrap(Handle.class);
            handle.execute("INSERT INTO effect VALUES (?)", "kept");
            assertThat(transaction.unwrap(Handle.class)).isSameAs(handle);
            assertThat(handle.getConnection()).isSameAs(transaction.unwrap(Connection.class));
            return true;
        });
        runner.run(LIMITS, transaction -> {
            transaction.unwrap(Handle.class).execute("INSERT INTO effect VALUES (?)", "rolled back");
            transaction.setRollbackOnly();
            return true;
        });

        assertThat(database.countEffects("kept")).isEqualTo(1);
        assertThat(database.countEffects("rolled back")).isZero();
    }

    @Test
    void unwrap_handleClosedByTheWork_isOpenedAgain() {
        JdbiTransactionRunner.of(database.dataSource()).run(LIMITS, transaction -> {
            transaction.unwrap(Handle.class).close();
            transaction.unwrap(Handle.class).execute("INSERT INTO effect VALUES (?)", "kept");
            return true;
        });

        assertThat(database.countEffects("kept")).isEqualTo(1);
    }

    @Test
    void unwrap_handleOfTheApplicationsJdbi_joinsOnItsDataSource() {
        Jdbi jdbi = Jdbi.create(joining);
        JdbiTransactionRunner.of(joining, jdbi).run(LIMITS, transaction -> {
            assertThat(transaction.unwrap(Handle.class).getJdbi()).isSameAs(jdbi);
            jdbi.useHandle(handle -> handle.execute("INSERT INTO effect VALUES (?)", "joined"));
            jdbi.useTransaction(handle -> handle.execute("INSERT INTO effect VALUES (?)", "joined"));
            transaction.setRollbackOnly();
            return true;
        });

        assertThat(database.countEffects("joined")).isZero();
    }

    @Test
    void unwrap_handleOfAnotherDataSource_isRefused() {
        Jdbi elsewhere = Jdbi.create(database.dataSource());

        assertThatIllegalStateException()
                .isThrownBy(() -> JdbiTransactionRunner.of(joining, elsewhere)
                        .run(LIMITS, transaction -> transaction.unwrap(Handle.class)))
                .withMessageContaining("JoiningDataSource");
    }

    @Test
    void run_insideATransactionOfTheSameDataSource_isRefusedBeforeAConnectionIsTaken() {
        JdbiTransactionRunner one = JdbiTransactionRunner.of(joining);
        JdbiTransactionRunner other = JdbiTransactionRunner.of(joining);

        one.run(LIMITS, transaction -> {
            assertThatIllegalStateException().isThrownBy(() -> other.run(LIMITS, inner -> true));
            return true;
        });
    }

    @Test
    void leasedClaim_insideATransactionOfTheSameDataSource_isRefused() {
        JdbiIdempotencyStore store = JdbiIdempotencyStore.of(joining);

        JdbiTransactionRunner.of(joining).run(LIMITS, transaction -> {
            assertThatIllegalStateException().isThrownBy(() -> store.deleteExpired(1));
            return true;
        });
        assertThat(store.deleteExpired(1)).isZero();
    }

    @Test
    void transaction_usedOnAnotherThread_isRefused() {
        JdbiTransactionRunner.of(joining).run(LIMITS, transaction -> {
            CompletableFuture<Connection> elsewhere =
                    CompletableFuture.supplyAsync(() -> transaction.unwrap(Connection.class));
            assertThat(elsewhere)
                    .failsWithin(Duration.ofSeconds(60))
                    .withThrowableOfType(ExecutionException.class)
                    .withCauseInstanceOf(IllegalStateException.class);
            return true;
        });
    }

    @Test
    void transaction_ended_takesNoMoreActions() {
        AtomicReference<Transaction> kept = new AtomicReference<>();
        JdbiTransactionRunner.of(joining).run(LIMITS, transaction -> {
            kept.set(transaction);
            return true;
        });

        Transaction ended = Optional.ofNullable(kept.get()).orElseThrow();
        assertThatIllegalStateException().isThrownBy(() -> ended.afterCommit(() -> {}));
        assertThatIllegalStateException().isThrownBy(ended::setRollbackOnly);
    }
}
