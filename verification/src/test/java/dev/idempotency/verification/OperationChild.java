package dev.idempotency.verification;

import dev.idempotency.Fingerprint;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.LeaseSettings;
import dev.idempotency.Operation;
import dev.idempotency.OperationOutcome;
import dev.idempotency.Protection;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.Scope;
import dev.idempotency.WorkResult;
import dev.idempotency.jdbi.JdbiIdempotencyStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.testkit.fault.Fault;
import dev.idempotency.testkit.fault.FaultInjectingDataSource;
import dev.idempotency.testkit.fault.JdbcPoint;
import dev.idempotency.testkit.process.CrashPoints;
import dev.idempotency.testkit.process.Stepped;
import dev.idempotency.testkit.process.Steps;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The service of the crash tests: runs one operation whose effect is a row. As a child process it dies between two of its
 * steps; in the test's own process it is the instance that the client reaches when it tries again.
 */
final class OperationChild {
    /** What the child says when it has answered its client. */
    static final String ANSWERED = "answered ";

    static final Duration LEASE = Duration.ofSeconds(2);
    private static final String PASSED = "passed ";

    private OperationChild() {}

    /** Arguments: URL, protection, policy, key. */
    public static void main(String[] arguments) throws SQLException {
        CrashPoints points = CrashPoints.ofThisProcess();
        Steps steps = step -> {
            System.out.println(PASSED + step);
            points.reached(step);
        };
        FaultInjectingDataSource dataSource = FaultInjectingDataSource.wrap(dataSource(arguments[0]));
        Protection protection = Protection.valueOf(arguments[1]);
        try (Idempotency idempotency = engine(dataSource, steps)) {
            // Only now, because the check of the schema at start commits too.
            for (int commit = 1; commit <= 3; commit++) {
                report(dataSource, JdbcPoint.BEFORE_COMMIT, commit, "connection.committing", steps);
                report(dataSource, JdbcPoint.AFTER_COMMIT, commit, "connection.committed", steps);
            }
            OperationOutcome outcome = run(
                    idempotency,
                    operation(protection, AbandonedPolicy.valueOf(arguments[2]), arguments[3]),
                    dataSource(arguments[0]),
                    steps);
            steps.reached("operation.answering");
            System.out.println(ANSWERED + outcome.getClass().getSimpleName());
            steps.reached("operation.answered");
        }
    }

    static Idempotency engine(DataSource dataSource, Steps steps) {
        JdbiIdempotencyStore store = JdbiIdempotencyStore.of(dataSource);
        return Idempotency.builder()
                .transactional(
                        Stepped.transactional(store, steps),
                        Stepped.runner(JdbiTransactionRunner.of(dataSource), "operation", steps))
                .leased(Stepped.leased(store, steps))
                .lease(new LeaseSettings(LEASE, Duration.ofHours(1)))
                .build();
    }

    static Operation operation(Protection protection, AbandonedPolicy policy, String key) {
        RecordId id = new RecordId(Scope.shared("charge"), IdempotencyKey.of(key));
        return Operation.of(id, Fingerprint.none(), protection).withAbandoned(policy);
    }

    /** Runs the operation; {@code outside} is where the effect goes that stands in no transaction of the claim. */
    static OperationOutcome run(Idempotency idempotency, Operation operation, DataSource outside, Steps steps)
            throws SQLException {
        return idempotency.<SQLException>execute(operation, context -> {
            if (context.transaction().isPresent()) {
                effect(context.transaction().get().unwrap(Connection.class), operation, context);
            } else {
                try (Connection connection = outside.getConnection()) {
                    effect(connection, operation, context);
                }
            }
            steps.reached("work.done");
            return new WorkResult.Succeeded(new RecordedResult.Replayable(
                    201, new byte[0], ("receipt of " + operation.id().key().value()).getBytes(StandardCharsets.UTF_8)));
        });
    }

    static DataSource dataSource(String url) {
        if (url.startsWith("jdbc:h2:")) {
            JdbcDataSource h2 = new JdbcDataSource();
            h2.setURL(url);
            return h2;
        }
        PGSimpleDataSource postgreSql = new PGSimpleDataSource();
        postgreSql.setUrl(url);
        return postgreSql;
    }

    private static void effect(Connection connection, Operation operation, IdempotencyContext context)
            throws SQLException {
        String sql = "INSERT INTO effect (operation_key, derived_key) VALUES (?, ?)";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, operation.id().key().value());
            statement.setString(2, context.derive("charge").value());
            statement.executeUpdate();
        }
    }

    private static void report(
            FaultInjectingDataSource dataSource, JdbcPoint point, int occurrence, String step, Steps steps) {
        dataSource.inject(point, sql -> true, occurrence, Fault.run(() -> steps.reached(step)));
    }
}
