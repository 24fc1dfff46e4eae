package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Fingerprint;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Operation;
import dev.idempotency.OperationOutcome;
import dev.idempotency.Protection;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult.Replayable;
import dev.idempotency.Scope;
import dev.idempotency.WorkResult;
import dev.idempotency.testkit.fault.FaultInjectingDataSource;
import dev.idempotency.transaction.JoiningDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What an operation costs beside its work, counted under the pool's wrapper. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PostgreSqlExecutionsIT {
    private static final WorkResult DONE = new WorkResult.Succeeded(new Replayable(201, new byte[0], new byte[] {1}));

    private final PostgreSqlTestDatabase database = new PostgreSqlTestDatabase();
    private final FaultInjectingDataSource counted = FaultInjectingDataSource.wrap(database.dataSource());
    private final JoiningDataSource joining = JoiningDataSource.of(counted);
    private final JdbiIdempotencyStore store = JdbiIdempotencyStore.of(counted);
    private final Idempotency idempotency = Idempotency.builder()
            .transactional(store, JdbiTransactionRunner.of(joining))
            .leased(store)
            .build();
    private int keys;

    @BeforeEach
    void resetCounts() {
        counted.resetCounts();
    }

    @AfterAll
    void close() {
        idempotency.close();
        database.close();
    }

    private Operation operation(Protection protection) {
        keys++;
        return Operation.of(
                new RecordId(Scope.shared("count"), IdempotencyKey.of("key-" + keys)), Fingerprint.none(), protection);
    }

    private OperationOutcome insertThrough(Operation operation) throws SQLException {
        return idempotency.<SQLException>execute(operation, context -> {
            try (Connection connection = joining.getConnection();
                    Statement statement = connection.createStatement()) {
                statement.executeUpdate("INSERT INTO effect VALUES ('counted')");
            }
            return DONE;
        });
    }

    @Test
    void execute_freshKey_addsTwoExecutionsAndNoCommit() throws SQLException {
        assertThat(insertThrough(operation(Protection.TRANSACTIONAL))).isInstanceOf(OperationOutcome.Executed.class);

        assertThat(counted.statements()).hasSize(3);
        assertThat(counted.executions()).isEqualTo(3);
        assertThat(counted.commits()).isEqualTo(1);
        assertThat(counted.rollbacks()).isZero();
        assertThat(counted.connections()).isEqualTo(1);
    }

    @Test
    void execute_completedKey_isAnsweredAfterOneExecution() throws SQLException {
        Operation operation = operation(Protection.TRANSACTIONAL);
        insertThrough(operation);
        counted.resetCounts();

        assertThat(insertThrough(operation)).isInstanceOf(OperationOutcome.Replayed.class);

        assertThat(counted.executions()).isEqualTo(1);
        assertThat(counted.commits()).isZero();
        assertThat(counted.connections()).isEqualTo(1);
    }

    @Test
    void execute_keyOfAnotherRequest_isRefusedAfterOneExecution() throws SQLException {
        Operation operation = operation(Protection.TRANSACTIONAL);
        insertThrough(with(operation, Fingerprint.sha256("test", new byte[] {1})));
        counted.resetCounts();

        assertThat(insertThrough(with(operation, Fingerprint.sha256("test", new byte[] {2}))))
                .isInstanceOf(OperationOutcome.Mismatch.class);

        assertThat(counted.executions()).isEqualTo(1);
        assertThat(counted.commits()).isZero();
        assertThat(counted.connections()).isEqualTo(1);
    }

    /** Asked from within the work of the first, on another thread. */
    @Test
    void execute_runningKey_isRefusedAfterOneExecution() throws SQLException {
        Operation operation = operation(Protection.TRANSACTIONAL);
        ExecutorService other = Executors.newSingleThreadExecutor();
        try {
            idempotency.<SQLException>execute(operation, context -> {
                counted.resetCounts();
                Future<OperationOutcome> duplicate = other.submit(() -> insertThrough(operation));
                assertThat(duplicate)
                        .succeedsWithin(Duration.ofSeconds(60))
                        .isInstanceOf(OperationOutcome.InProgress.class);
                assertThat(counted.executions()).isEqualTo(1);
                assertThat(counted.commits()).isZero();
                return DONE;
            });
        } finally {
            other.shutdownNow();
        }
    }

    private static Operation with(Operation operation, Fingerprint fingerprint) {
        return Operation.of(operation.id(), fingerprint, operation.protection());
    }

    @Test
    void execute_leasedFreshKey_claimsInTwoExecutionsAndCompletesInOne() throws SQLException {
        assertThat(insertThrough(operation(Protection.LEASED))).isInstanceOf(OperationOutcome.Executed.class);

        assertThat(counted.executions()).isEqualTo(4);
        // The claim's, the completion's; the work's own connection is in autocommit.
        assertThat(counted.commits()).isEqualTo(2);
    }
}
