package dev.idempotency.jdbi;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The simplest pool there is: it lends one connection, and takes it back as it is without a look. */
final class Lending {
    private Lending() {}

    static DataSource of(Connection connection) {
        Connection lent = proxy(
                Connection.class,
                (method, args) -> method.getName().equals("close") ? null : method.invoke(connection, args));
        return proxy(DataSource.class, (method, args) -> method.getName().equals("getConnection") ? lent : false);
    }

    private static <T> T proxy(Class<T> type, Call call) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> {
            try {
                return call.invoke(method, args);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }));
    }

    private interface Call {
        @Nullable
        Object invoke(Method method, Object[] args) throws ReflectiveOperationException;
    }
}
