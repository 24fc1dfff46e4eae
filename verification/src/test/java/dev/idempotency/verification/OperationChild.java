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
import dev.idempotency.transaction.TransactionLimits;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The service of the crash tests: runs operations whose effect is a row, each on a thread of its own. As a child process it
 * dies while each of them stands between two steps; in the test's own process it is the instance that the client reaches when it tries again.
 */
final class OperationChild {
    /** What the child says when it has answered its client. */
    static final String ANSWERED = "answered ";

    static final Duration LEASE = Duration.ofSeconds(2);
    private static final String PASSED = "passed ";

    private OperationChild() {}

    /** Arguments: URL, protection, idle limit, and for each operation its policy and its key. */
    public static void main(String[] arguments) {
        CrashPoints points = CrashPoints.ofThisProcess();
        Protection protection = Protection.valueOf(arguments[1]);
        Duration idle = Duration.parse(arguments[2]);
        for (int i = 3; i < arguments.length; i += 2) {
            Operation operation = operation(protection, AbandonedPolicy.valueOf(arguments[i]), arguments[i + 1]);
            new Thread(() -> serve(arguments[0], idle, operation, points), arguments[i + 1]).start();
        }
    }

    /** The name of a step of one of the child's operations. */
    static String step(String key, String step) {
        return key + "@" + step;
    }

    /** One request: each has an engine and connections of its own, and crash points of its own. */
    private static void serve(String url, Duration idle, Operation operation, CrashPoints points) {
        String key = operation.id().key().value();
        Steps steps = step -> {
            System.out.println(PASSED + step(key, step));
            points.reached(step(key, step));
        };
        FaultInjectingDataSource dataSource = FaultInjectingDataSource.wrap(dataSource(url));
        try (Idempotency idempotency = engine(dataSource, idle, steps)) {
            // Only now, because the check of the schema at start commits too.
            for (int commit = 1; commit <= 3; commit++) {
                report(dataSource, JdbcPoint.BEFORE_COMMIT, commit, "connection.committing", steps);
                report(dataSource, JdbcPoint.AFTER_COMMIT, commit, "connection.committed", steps);
            }
            OperationOutcome outcome = run(idempotency, operation, dataSource(url), steps);
            steps.reached("operation.answering");
            System.out.println(ANSWERED + key + " " + outcome.getClass().getSimpleName());
            steps.reached("operation.answered");
        } catch (SQLException e) {
            throw new IllegalStateException("The effect of " + key + " failed", e);
        }
    }

    static Idempotency engine(DataSource dataSource, Duration idle, Steps steps) {
        JdbiIdempotencyStore store = JdbiIdempotencyStore.of(dataSource);
        return Idempotency.builder()
                .transactional(
                        Stepped.transactional(store, steps),
                        Stepped.runner(JdbiTransactionRunner.of(dataSource), "operation", steps))
                .leased(Stepped.leased(store, steps))
                .limits(TransactionLimits.ofDefaults().withIdle(idle))
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
