package dev.idempotency.internal.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A driver that can do nothing but be asked: it notes each call, answers with a value of the right type (for a JDBC
 * interface, with another object of its own), and throws what it is told to.
 *
 * <p>No database has a {@code ResultSet.next} that fails with 40001 on demand, nor all of JDBC's methods.
 */
final class ScriptedDriver {
    record Call(Method method, List<@Nullable Object> arguments) {}

    private final List<Call> calls = new ArrayList<>();
    private @Nullable SQLException failure;

    Connection connection() {
        return make(Connection.class);
    }

    /** From now on each method that can throw an SQLException throws this one. */
    void failWith(SQLException next) {
        failure = next;
    }

    void succeed() {
        failure = null;
    }

    List<Call> calls() {
        return calls;
    }

    boolean made(Object object) {
        return Proxy.isProxyClass(object.getClass());
    }

    <T> T make(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) ->
                        answer(proxy, type, method, arguments == null ? new Object[0] : arguments)));
    }

    private @Nullable Object answer(Object proxy, Class<?> type, Method method, Object[] arguments)
            throws SQLException, IllegalAccessException, InvocationTargetException {
        if (method.getDeclaringClass() == Object.class) {
            return switch (method.getName()) {
                case "equals" -> proxy == arguments[0];
                case "hashCode" -> System.identityHashCode(proxy);
                default -> "driver's " + type.getSimpleName();
            };
        }
        calls.add(new Call(method, Arrays.asList(arguments)));
        if (failure != null && Arrays.asList(method.getExceptionTypes()).contains(SQLException.class)) {
            throw failure;
        }
        return value(method.getReturnType(), type);
    }

    /** A value for a result or an argument. */
    @Nullable
    Object value(Class<?> wanted, Class<?> asker) {
        if (wanted.isInterface() && wanted.getPackageName().equals("java.sql")) {
            return make(wanted);
        }
        if (wanted == boolean.class) {
            // A connection in autocommit cannot be guarded.
            return asker != Connection.class;
        }
        return Optional.<Object>ofNullable(primitive(wanted)).orElse(wanted == String.class ? "text" : null);
    }

    private static @Nullable Object primitive(Class<?> wanted) {
        if (!wanted.isPrimitive() || wanted == void.class) {
            return null;
        }
        return java.lang.reflect.Array.get(java.lang.reflect.Array.newInstance(wanted, 1), 0);
    }
}
