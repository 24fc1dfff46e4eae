package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.testkit.fault.Fault;
import dev.idempotency.testkit.fault.FaultInjectingDataSource;
import dev.idempotency.testkit.fault.JdbcPoint;
import dev.idempotency.transaction.OutcomeUnknownException;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What becomes of the connection after the transaction, where the pool does nothing about it. */
class JdbiTransactionRunnerSessionTest {
    private static final TransactionLimits LIMITS = TransactionLimits.ofDefaults();

    private final H2TestDatabase database = new H2TestDatabase();

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    void run_poolThatRestoresNothing_getsTheConnectionBackInItsMode() throws SQLException {
        for (boolean mode : new boolean[] {true, false}) {
            try (Connection connection = database.dataSource().getConnection()) {
                connection.setAutoCommit(mode);
                JdbiTransactionRunner runner = JdbiTransactionRunner.of(Lending.of(connection));

                runner.run(LIMITS, transaction -> true);
                assertThat(connection.getAutoCommit()).isEqualTo(mode);
                runner.run(LIMITS, transaction -> {
                    transaction.setRollbackOnly();
                    return true;
                });
                assertThat(connection.getAutoCommit()).isEqualTo(mode);
                assertThatThrownBy(() -> runner.run(LIMITS, transaction -> {
                            throw new IllegalStateException("from the work");
                        }))
                        .hasMessage("from the work");
                assertThat(connection.getAutoCommit()).isEqualTo(mode);
            }
        }
    }

    @Test
    void run_commitUnknown_theConnectionLeavesTheHikariPool() {
        FaultInjectingDataSource faults = FaultInjectingDataSource.wrap(database.dataSource());
        HikariConfig config = new HikariConfig();
        config.setDataSource(faults);
        config.setMaximumPoolSize(1);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            JdbiTransactionRunner runner = JdbiTransactionRunner.of(pool);
            long before = faults.connections();
            // A state after which HikariCP itself would keep the connection.
            faults.inject(JdbcPoint.BEFORE_COMMIT, Fault.error("XX000"));
            assertThatThrownBy(() -> runner.run(LIMITS, transaction -> true))
                    .isInstanceOf(OutcomeUnknownException.class);

            runner.run(LIMITS, transaction -> true);

            assertThat(faults.connections()).isEqualTo(before + 1);
        }
    }

    @Test
    void claim_afterwards_theLockTimeoutIsAsBefore() {
        JdbiIdempotencyStore store = JdbiIdempotencyStore.of(database.dataSource());
        JdbiTransactionRunner.of(database.dataSource()).run(LIMITS, transaction -> {
            Connection connection = transaction.unwrap(Connection.class);
            long before = TestDatabase.number(connection, "SELECT LOCK_TIMEOUT()");
            store.claim(transaction, TestRequests.fresh());
            assertThat(TestDatabase.number(connection, "SELECT LOCK_TIMEOUT()")).isEqualTo(before);
            return true;
        });
    }
}
