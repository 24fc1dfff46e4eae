package dev.idempotency.testkit.fault;

import dev.idempotency.Fingerprint;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyException;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Operation;
import dev.idempotency.OperationOutcome;
import dev.idempotency.OperationWork;
import dev.idempotency.Protection;
import dev.idempotency.RecordId;
import dev.idempotency.Scope;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import javax.sql.DataSource;

/**
 * Runs an application's own service once for every moment at which its connection can break, repeats each time as a client
 * does, and fails unless the effect is there exactly once; applications call it in their tests.
 *
 * <p>The moments are found by a run in which nothing breaks: before and after each statement, the library's and the
 * handler's own, and before and after each commit. What is cut after a commit is committed, and nobody knows it.
 *
 * <p>It finds what a review overlooks: a handler that writes through a second data source, commits on its own, runs
 * something in another thread, or answers before the commit. It is meant for {@link Protection#TRANSACTIONAL} and for
 * events; the work of a leased operation may have its effect twice by design.
 *
 * <p>Instances are immutable. It needs no test framework: a violation is an {@link AssertionError}.
 */
public final class EveryCrashPoint {
    private static final Duration BOUND = Duration.ofSeconds(30);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final DataSource database;
    private final Function<DataSource, Service> service;
    private final Effects effects;

    private EveryCrashPoint(DataSource database, Function<DataSource, Service> service, Effects effects) {
        this.database = Objects.requireNonNull(database, "database");
        this.service = Objects.requireNonNull(service, "service");
        this.effects = Objects.requireNonNull(effects, "effects");
    }

    /**
     * Looks at a handler of operations.
     *
     * @param database the application's database, with the library's tables and its own
     * @param engine builds the application's engine on the data source it is given, which is the database with a crash in
     *     it; it gets a new one for each crash, and what it built is closed
     * @param handler the application's handler; the key stands in its context
     * @param effects counts the effects of a key
     * @return the check, to be run by {@link #verify()}
     */
    public static EveryCrashPoint ofOperation(
            DataSource database,
            Function<DataSource, Idempotency> engine,
            OperationWork<? extends Exception> handler,
            Effects effects) {
        return of(database, crashing -> new OperationService(engine.apply(crashing), handler), effects);
    }

    /**
     * Looks at any service: a consumer's handler, a filter called over HTTP.
     *
     * @param database the application's database, with the library's tables and its own
     * @param service builds the application's service on the data source it is given, which is the database with a crash
     *     in it; it gets a new one for each crash, and what it built is closed
     * @param effects counts the effects of a key
     * @return the check, to be run by {@link #verify()}
     */
    public static EveryCrashPoint of(DataSource database, Function<DataSource, Service> service, Effects effects) {
        return new EveryCrashPoint(database, service, effects);
    }

    /**
     * Crashes at every point, one after the other.
     *
     * @return how many points there were
     * @throws AssertionError if a key had another number of effects than one, an acknowledged effect was lost, or
     *     repeating did not lead to an answer within 30 s; it names every such point
     */
    public int verify() {
        List<Point> points = points();
        List<String> violations = new ArrayList<>();
        for (Point point : points) {
            crash(point).ifPresent(wrong -> violations.add("  connection cut " + point + ": " + wrong));
        }
        if (!violations.isEmpty()) {
            throw new AssertionError(
                    violations.size() + " of " + points.size() + " crash points break the guarantee of one"
                            + " effect per key. Does something write outside the transaction it was given, or answer before its"
                            + " commit?\n" + String.join("\n", violations));
        }
        return points.size();
    }

    /** All points of one undisturbed call. */
    private List<Point> points() {
        FaultInjectingDataSource observed = FaultInjectingDataSource.wrap(database);
        List<Point> points = new ArrayList<>();
        String key = newKey();
        try (Service undisturbed = service.apply(observed)) {
            observed.resetCounts();
            require(undisturbed.call(key), "The undisturbed call of " + key + " was not acknowledged");
            List<String> statements = observed.statements();
            for (int number = 1; number <= statements.size(); number++) {
                points.add(new Point(JdbcPoint.BEFORE_EXECUTE, number, statements.get(number - 1)));
                points.add(new Point(JdbcPoint.AFTER_EXECUTE, number, statements.get(number - 1)));
            }
            for (int number = 1; number <= observed.commits(); number++) {
                points.add(new Point(JdbcPoint.BEFORE_COMMIT, number, ""));
                points.add(new Point(JdbcPoint.AFTER_COMMIT, number, ""));
            }
            int count = effects.count(key);
            require(count == 1, "The undisturbed call of " + key + " had " + count + " effects instead of one");
        } catch (Exception e) {
            throw new AssertionError("The undisturbed call of " + key + " failed", e);
        }
        require(!points.isEmpty(), "The service did not use the data source it was given");
        return points;
    }

    /** What is wrong after a crash at the point; empty if nothing is. */
    private Optional<String> crash(Point point) {
        FaultInjectingDataSource crashing = FaultInjectingDataSource.wrap(database);
        String key = newKey();
        try (Service crashed = service.apply(crashing)) {
            crashing.inject(point.at(), sql -> true, point.number(), Fault.cut());
            boolean acknowledged = attempt(crashed, key);
            if (!crashing.allFaultsStruck()) {
                return Optional.of("not reached; the service must do the same for every key");
            }
            int count = effects.count(key);
            if (count > 1 || (acknowledged && count == 0)) {
                return Optional.of((acknowledged ? "acknowledged, and " : "") + count + " effects");
            }
            if (!repeat(crashed, key)) {
                return Optional.of("not acknowledged within " + BOUND + " of repeating");
            }
            int last = effects.count(key);
            return last == 1 ? Optional.empty() : Optional.of(last + " effects after the client has repeated");
        } catch (Exception e) {
            throw new AssertionError("The service failed at a crash " + point, e);
        }
    }

    private static boolean repeat(Service crashed, String key) {
        long deadline = System.nanoTime() + BOUND.toNanos();
        while (!attempt(crashed, key)) {
            if (System.nanoTime() > deadline) {
                return false;
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return true;
    }

    /** A call as a client makes it: what is thrown instead of an answer is none. */
    private static boolean attempt(Service crashed, String key) {
        try {
            return crashed.call(key);
        } catch (IdempotencyException | SQLException noAnswer) {
            return false;
        } catch (Exception e) {
            if (isFromDatabase(e)) {
                return false;
            }
            throw new AssertionError(
                    "The service answered " + key + " with an exception that is not the database's", e);
        }
    }

    private static boolean isFromDatabase(Exception failure) {
        Throwable cause = failure;
        while (cause != null && !(cause instanceof SQLException) && !(cause instanceof IdempotencyException)) {
            cause = cause.getCause();
        }
        return cause != null;
    }

    private static void require(boolean condition, String message) {
        if (!condition) {
            throw new AssertionError(message);
        }
    }

    private static String newKey() {
        return "crash-" + UUID.randomUUID();
    }

    /** An application's service, as a client sees it. */
    @FunctionalInterface
    public interface Service extends AutoCloseable {
        /**
         * Does what the key stands for.
         *
         * @param key the same for every repeat
         * @return true if the client was told that it is done, by this call or an earlier one; false if it is to repeat
         * @throws Exception what the service threw instead of an answer
         */
        boolean call(String key) throws Exception;

        @Override
        default void close() throws Exception {}
    }

    /** Counts what a key has led to. */
    @FunctionalInterface
    public interface Effects {
        /**
         * Counts the effects of a key, by a look into the application's tables.
         *
         * @param key the key
         * @return 0 or more
         * @throws Exception if they cannot be counted
         */
        int count(String key) throws Exception;
    }

    /** A moment of the undisturbed call. */
    private record Point(JdbcPoint at, int number, String sql) {
        @Override
        public String toString() {
            String what = sql.isEmpty() ? "commit " + number : "statement " + number + " (" + shortened(sql) + ")";
            boolean before = at == JdbcPoint.BEFORE_EXECUTE || at == JdbcPoint.BEFORE_COMMIT;
            return (before ? "before " : "after ") + what;
        }

        private static String shortened(String sql) {
            String line = sql.strip().replaceAll("\\s+", " ");
            return line.length() <= 60 ? line : line.substring(0, 60) + "…";
        }
    }

    private record OperationService(Idempotency idempotency, OperationWork<? extends Exception> handler)
            implements Service {
        @Override
        public boolean call(String key) throws Exception {
            RecordId id = new RecordId(Scope.shared("every-crash-point"), IdempotencyKey.of(key));
            Operation operation = Operation.of(id, Fingerprint.none(), Protection.TRANSACTIONAL);
            OperationOutcome outcome = idempotency.execute(operation, handler);
            return outcome instanceof OperationOutcome.Executed || outcome instanceof OperationOutcome.Replayed;
        }

        @Override
        public void close() {
            idempotency.close();
        }
    }
}
