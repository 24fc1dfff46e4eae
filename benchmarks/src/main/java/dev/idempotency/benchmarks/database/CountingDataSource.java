package dev.idempotency.benchmarks.database;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Counts what is executed and committed on a data source, by calls of the driver. Safe for use by many threads. */
public final class CountingDataSource {
    private final AtomicLong executions = new AtomicLong();
    private final AtomicLong commits = new AtomicLong();
    private final DataSource counted;

    private CountingDataSource(DataSource dataSource) {
        this.counted = proxy(DataSource.class, dataSource);
    }

    /**
     * Returns a counter of what happens on its own view of the data source.
     *
     * @param dataSource where connections come from
     * @return the counter
     */
    public static CountingDataSource of(DataSource dataSource) {
        return new CountingDataSource(dataSource);
    }

    /**
     * Returns the view on which everything is counted.
     *
     * @return the data source
     */
    public DataSource dataSource() {
        return counted;
    }

    /**
     * Returns how often a statement was executed; several statements in one text are one execution.
     *
     * @return the number since the beginning
     */
    public long executions() {
        return executions.get();
    }

    /**
     * Returns how often a commit was asked for.
     *
     * @return the number since the beginning
     */
    public long commits() {
        return commits.get();
    }

    private <T> T proxy(Class<T> type, Object target) {
        InvocationHandler handler = (self, method, arguments) -> {
            count(method);
            Object result = invoke(target, method, arguments);
            // Who unwraps wants the driver's own.
            return method.getName().equals("unwrap") ? result : wrap(result);
        };
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private void count(Method method) {
        if (Statement.class.isAssignableFrom(method.getDeclaringClass())
                && method.getName().startsWith("execute")) {
            executions.incrementAndGet();
        } else if (method.getDeclaringClass() == Connection.class
                && method.getName().equals("commit")) {
            commits.incrementAndGet();
        }
    }

    private static @Nullable Object invoke(Object target, Method method, Object @Nullable [] arguments)
            throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }

    private @Nullable Object wrap(@Nullable Object result) {
        if (result instanceof Connection) {
            return proxy(Connection.class, result);
        }
        if (result instanceof CallableStatement) {
            return proxy(CallableStatement.class, result);
        }
        if (result instanceof PreparedStatement) {
            return proxy(PreparedStatement.class, result);
        }
        return result instanceof Statement ? proxy(Statement.class, result) : result;
    }
}
