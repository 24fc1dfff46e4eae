package dev.idempotency.testkit.fault;

import java.io.PrintWriter;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A real data source that fails, loses answers or holds threads exactly where a test says, and counts what passes.
 *
 * <p>Put it under the pool to hurt the pool too, or over it to hurt the code alone. Everything that is not struck by a
 * fault reaches the real driver unchanged. A textual {@code COMMIT} or {@code ROLLBACK} counts as one and meets the same
 * faults. Safe for use by many threads.
 */
public final class FaultInjectingDataSource implements DataSource {
    private final DataSource real;
    private final List<Rule> rules = new CopyOnWriteArrayList<>();
    private final List<String> statements = new ArrayList<>();
    private final AtomicLong executions = new AtomicLong();
    private final AtomicLong commits = new AtomicLong();
    private final AtomicLong rollbacks = new AtomicLong();
    private final AtomicLong connections = new AtomicLong();
    private final AtomicInteger openConnections = new AtomicInteger();

    private FaultInjectingDataSource(DataSource real) {
        this.real = Objects.requireNonNull(real, "real");
    }

    /**
     * Wraps a data source, without any fault at first.
     *
     * @param real the real one
     * @return the wrapper
     */
    public static FaultInjectingDataSource wrap(DataSource real) {
        return new FaultInjectingDataSource(real);
    }

    /**
     * Lets a fault strike once, the next time the point is reached.
     *
     * @param point where
     * @param fault what
     */
    public void inject(JdbcPoint point, Fault fault) {
        inject(point, sql -> true, 1, fault);
    }

    /**
     * Lets a fault strike once, the n-th time from now that the point is reached with a matching statement.
     *
     * @param point where
     * @param sql which statements; given the statement's text, a batch's texts joined by {@code ;}, or the empty string
     *     at a point without a statement
     * @param occurrence 1 for the next one
     * @param fault what
     */
    public void inject(JdbcPoint point, Predicate<String> sql, int occurrence, Fault fault) {
        if (occurrence < 1) {
            throw new IllegalArgumentException("The occurrence is counted from 1, but is " + occurrence);
        }
        rules.add(new Rule(point, sql, new AtomicInteger(occurrence), fault));
    }

    /** Forgets the faults that have not struck. */
    public void clearFaults() {
        rules.clear();
    }

    /**
     * Tells whether every fault has struck: a test that injected one asserts it, or it may have tested nothing.
     *
     * @return true if none is left
     */
    public boolean allFaultsStruck() {
        return rules.isEmpty();
    }

    /** Sets the counters and the list of statements to nothing; open connections stay counted. */
    public void resetCounts() {
        executions.set(0);
        commits.set(0);
        rollbacks.set(0);
        connections.set(0);
        synchronized (statements) {
            statements.clear();
        }
    }

    /**
     * Returns how many statements were sent; a batch is one.
     *
     * @return 0 or more
     */
    public long executions() {
        return executions.get();
    }

    /**
     * Returns how many commits were sent.
     *
     * @return 0 or more
     */
    public long commits() {
        return commits.get();
    }

    /**
     * Returns how many rollbacks were sent.
     *
     * @return 0 or more
     */
    public long rollbacks() {
        return rollbacks.get();
    }

    /**
     * Returns how often the caller waited for the server: statements, commits and rollbacks.
     *
     * @return 0 or more
     */
    public long roundTrips() {
        return executions() + commits() + rollbacks();
    }

    /**
     * Returns how many connections were handed out.
     *
     * @return 0 or more
     */
    public long connections() {
        return connections.get();
    }

    /**
     * Returns how many connections have been handed out and not been closed.
     *
     * @return 0 when nothing leaks
     */
    public int openConnections() {
        return openConnections.get();
    }

    /**
     * Returns the statements sent, in order.
     *
     * @return a copy of their texts
     */
    public List<String> statements() {
        synchronized (statements) {
            return List.copyOf(statements);
        }
    }

    @Override
    public Connection getConnection() throws SQLException {
        strike(JdbcPoint.BEFORE_CONNECT, "", null);
        return wrap(real.getConnection());
    }

    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        strike(JdbcPoint.BEFORE_CONNECT, "", null);
        return wrap(real.getConnection(username, password));
    }

    @Override
    public @Nullable PrintWriter getLogWriter() throws SQLException {
        return real.getLogWriter();
    }

    @Override
    public void setLogWriter(@Nullable PrintWriter out) throws SQLException {
        real.setLogWriter(out);
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        real.setLoginTimeout(seconds);
    }

    @Override
    public int getLoginTimeout() throws SQLException {
        return real.getLoginTimeout();
    }

    @Override
    public Logger getParentLogger() {
        return Logger.getLogger("global");
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        return type.isInstance(real) ? type.cast(real) : real.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return type.isInstance(real) || real.isWrapperFor(type);
    }

    private Connection wrap(Connection connection) {
        connections.incrementAndGet();
        openConnections.incrementAndGet();
        return proxy(Connection.class, new ConnectionHandler(connection));
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private void strike(JdbcPoint point, String sql, @Nullable Connection connection) throws SQLException {
        List<Rule> due = rules.stream()
                .filter(rule -> rule.point == point && rule.sql.test(sql) && rule.left.decrementAndGet() == 0)
                .toList();
        rules.removeAll(due);
        for (Rule rule : due) {
            rule.fault.strike(connection);
        }
    }

    private @Nullable Object commit(Connection connection, Call call) throws Throwable {
        strike(JdbcPoint.BEFORE_COMMIT, "", connection);
        commits.incrementAndGet();
        Object result = call.proceed();
        strike(JdbcPoint.AFTER_COMMIT, "", connection);
        return result;
    }

    private @Nullable Object rollback(Connection connection, Call call) throws Throwable {
        strike(JdbcPoint.BEFORE_ROLLBACK, "", connection);
        rollbacks.incrementAndGet();
        Object result = call.proceed();
        strike(JdbcPoint.AFTER_ROLLBACK, "", connection);
        return result;
    }

    private @Nullable Object execute(Connection connection, String sql, Call call) throws Throwable {
        if (sql.strip().equalsIgnoreCase("commit")) {
            return commit(connection, call);
        }
        if (sql.strip().equalsIgnoreCase("rollback")) {
            return rollback(connection, call);
        }
        strike(JdbcPoint.BEFORE_EXECUTE, sql, connection);
        executions.incrementAndGet();
        synchronized (statements) {
            statements.add(sql);
        }
        Object result = call.proceed();
        strike(JdbcPoint.AFTER_EXECUTE, sql, connection);
        return result;
    }

    private record Rule(JdbcPoint point, Predicate<String> sql, AtomicInteger left, Fault fault) {}

    /** The call on the real object. */
    private static final class Call {
        private final Object target;
        private final Method method;
        private final Object @Nullable [] arguments;

        Call(Object target, Method method, Object @Nullable [] arguments) {
            this.target = target;
            this.method = method;
            this.arguments = arguments;
        }

        @Nullable
        Object proceed() throws Throwable {
            try {
                return method.invoke(target, arguments);
            } catch (InvocationTargetException thrown) {
                throw Objects.requireNonNullElse(thrown.getCause(), thrown);
            }
        }
    }

    private final class ConnectionHandler implements InvocationHandler {
        private final Connection connection;
        private boolean closed;

        ConnectionHandler(Connection connection) {
            this.connection = connection;
        }

        @Override
        public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
            Call call = new Call(connection, method, arguments);
            return switch (method.getName()) {
                case "commit" -> commit(connection, call);
                case "rollback" -> arguments == null ? rollback(connection, call) : call.proceed();
                case "close", "abort" -> end(call);
                case "unwrap" -> unwrap(connection, proxy, call);
                case "equals" -> arguments != null && proxy == arguments[0];
                case "hashCode" -> System.identityHashCode(proxy);
                default -> wrapStatement(proxy, call);
            };
        }

        private @Nullable Object end(Call call) throws Throwable {
            if (!closed) {
                closed = true;
                openConnections.decrementAndGet();
            }
            return call.proceed();
        }

        private @Nullable Object wrapStatement(Object proxy, Call call) throws Throwable {
            Object result = call.proceed();
            Class<?> type = call.method.getReturnType();
            return result instanceof Statement && Statement.class.isAssignableFrom(type)
                    ? proxy(type, new StatementHandler(connection, proxy, result, textOf(call.arguments)))
                    : result;
        }

        private static String textOf(Object @Nullable [] arguments) {
            return arguments != null && arguments.length > 0 && arguments[0] instanceof String sql ? sql : "";
        }
    }

    private final class StatementHandler implements InvocationHandler {
        private final Connection connection;
        private final Object connectionProxy;
        private final Object statement;
        private final String prepared;
        private final List<String> batch = new ArrayList<>();

        StatementHandler(Connection connection, Object connectionProxy, Object statement, String prepared) {
            this.connection = connection;
            this.connectionProxy = connectionProxy;
            this.statement = statement;
            this.prepared = prepared;
        }

        @Override
        public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
            Call call = new Call(statement, method, arguments);
            return switch (method.getName()) {
                case "execute", "executeQuery", "executeUpdate", "executeLargeUpdate" ->
                    execute(connection, arguments == null ? prepared : (String) arguments[0], call);
                case "executeBatch", "executeLargeBatch" -> execute(connection, takeBatch(), call);
                case "addBatch" -> {
                    if (arguments != null) {
                        batch.add((String) arguments[0]);
                    }
                    yield call.proceed();
                }
                case "clearBatch" -> {
                    batch.clear();
                    yield call.proceed();
                }
                case "getConnection" -> connectionProxy;
                case "unwrap" -> unwrap(statement, proxy, call);
                case "equals" -> arguments != null && proxy == arguments[0];
                case "hashCode" -> System.identityHashCode(proxy);
                default -> call.proceed();
            };
        }

        private String takeBatch() {
            String texts = prepared.isEmpty() ? String.join(";", batch) : prepared;
            batch.clear();
            return texts;
        }
    }

    /** A driver's wrapper does not know that the driver's own object stands right below this proxy. */
    private static @Nullable Object unwrap(Object target, Object proxy, Call call) throws Throwable {
        Class<?> type = (Class<?>) Objects.requireNonNull(call.arguments)[0];
        if (type.isInstance(proxy)) {
            return proxy;
        }
        return type.isInstance(target) ? target : call.proceed();
    }
}
