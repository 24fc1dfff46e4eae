package dev.idempotency.jdbi;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A connection to MariaDB on which the statements of all dialects can bind and read what that server does not have:
 *
 * <ul>
 *   <li>arrays: {@code = ANY(?)} and {@code UNNEST(?, ?)} are written out with a parameter per element, which the server
 *       can also plan with;
 *   <li>UUIDs, which its columns hold as 16 bytes;
 *   <li>times with an offset: its columns hold UTC without saying so, and are read as such, whatever the time zones of
 *       server, session and virtual machine are.
 * </ul>
 *
 * <p>It sees the store's own statements alone, never the application's.
 */
final class MariaDbConnection {
    private MariaDbConnection() {}

    /** Returns the connection with these abilities. */
    static Connection over(Connection connection) {
        return proxy(Connection.class, (proxy, method, arguments) -> switch (method.getName()) {
            case "createArrayOf" -> new ElementList((Object[]) arguments[1]);
            case "prepareStatement" ->
                arguments.length == 1
                        ? prepared(connection, (String) arguments[0])
                        : call(connection, method, arguments);
            default -> call(connection, method, arguments);
        });
    }

    private static PreparedStatement prepared(Connection connection, String sql) throws SQLException {
        if (ArrayStatement.hasArrays(sql)) {
            return proxy(PreparedStatement.class, new Late(connection, sql));
        }
        PreparedStatement statement = connection.prepareStatement(sql);
        return proxy(
                PreparedStatement.class,
                (proxy, method, arguments) -> readable(call(statement, method, storable(arguments))));
    }

    /** The server has a type for UUIDs, but one that refuses some of them, of version 7 as well. */
    private static Object @Nullable [] storable(Object @Nullable [] arguments) {
        if (arguments == null || arguments.length != 2 || !(arguments[1] instanceof UUID uuid)) {
            return arguments;
        }
        return new Object[] {arguments[0], bytes(uuid)};
    }

    private static byte[] bytes(UUID uuid) {
        return ByteBuffer.allocate(16)
                .putLong(uuid.getMostSignificantBits())
                .putLong(uuid.getLeastSignificantBits())
                .array();
    }

    /** Remembers what is bound, because the statement's text depends on it. */
    private static final class Late implements InvocationHandler {
        private final Connection connection;
        private final String sql;
        private final Map<Integer, Setter> values = new TreeMap<>();
        private final Map<Integer, Object[]> arrays = new TreeMap<>();
        private @Nullable PreparedStatement statement;

        /** Binds a value again, at another place. */
        @FunctionalInterface
        private interface Setter {
            void set(PreparedStatement statement, int index) throws Throwable;
        }

        Late(Connection connection, String sql) {
            this.connection = connection;
            this.sql = sql;
        }

        @Override
        public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
            String name = method.getName();
            if (name.equals("close")) {
                if (statement != null) {
                    statement.close();
                }
                return null;
            }
            if (name.startsWith("set") && arguments != null && arguments.length == 2) {
                bind(method, arguments);
                return null;
            }
            if (name.equals("executeQuery") || name.equals("executeUpdate")) {
                statement = write();
                return readable(call(statement, method, arguments));
            }
            throw new UnsupportedOperationException("A statement with arrays on MariaDB has no " + name);
        }

        private void bind(Method setter, Object[] arguments) {
            Integer index = (Integer) arguments[0];
            if (arguments[1] instanceof ElementList list) {
                arrays.put(index, list.elements);
            } else {
                values.put(index, (target, place) -> {
                    call(target, setter, storable(new Object[] {place, arguments[1]}));
                });
            }
        }

        private PreparedStatement write() throws Throwable {
            ArrayStatement written = ArrayStatement.write(sql, arrays);
            PreparedStatement prepared = connection.prepareStatement(written.sql());
            int index = 1;
            for (ArrayStatement.Parameter parameter : written.parameters()) {
                Setter setter = values.get(parameter.index());
                if (parameter.isElement()) {
                    prepared.setObject(
                            index, parameter.element() instanceof UUID uuid ? bytes(uuid) : parameter.element());
                } else if (setter == null) {
                    throw new SQLException("No value was bound to parameter " + parameter.index() + " of " + sql);
                } else {
                    setter.set(prepared, index);
                }
                index++;
            }
            return prepared;
        }
    }

    private static @Nullable Object readable(@Nullable Object result) {
        if (!(result instanceof ResultSet rows)) {
            return result;
        }
        return proxy(ResultSet.class, (proxy, method, arguments) -> {
            if (!method.getName().equals("getObject") || arguments.length != 2) {
                return call(rows, method, arguments);
            }
            int column = arguments[0] instanceof Integer index ? index : rows.findColumn((String) arguments[0]);
            if (arguments[1] == OffsetDateTime.class) {
                LocalDateTime time = rows.getObject(column, LocalDateTime.class);
                return time == null ? null : time.atOffset(ZoneOffset.UTC);
            }
            return arguments[1] == UUID.class ? uuid(rows.getBytes(column)) : call(rows, method, arguments);
        });
    }

    private static @Nullable UUID uuid(byte @Nullable [] bytes) {
        if (bytes == null) {
            return null;
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return new UUID(buffer.getLong(), buffer.getLong());
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static @Nullable Object call(Object target, Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    /** The elements of an array, until they are written out. */
    private static final class ElementList implements Array {
        private final Object[] elements;

        ElementList(Object[] elements) {
            this.elements = elements;
        }

        @Override
        public Object getArray() {
            return elements.clone();
        }

        @Override
        public String getBaseTypeName() {
            throw unsupported();
        }

        @Override
        public int getBaseType() {
            throw unsupported();
        }

        @Override
        public Object getArray(Map<String, Class<?>> map) {
            throw unsupported();
        }

        @Override
        public Object getArray(long index, int count) {
            throw unsupported();
        }

        @Override
        public Object getArray(long index, int count, Map<String, Class<?>> map) {
            throw unsupported();
        }

        @Override
        public ResultSet getResultSet() {
            throw unsupported();
        }

        @Override
        public ResultSet getResultSet(Map<String, Class<?>> map) {
            throw unsupported();
        }

        @Override
        public ResultSet getResultSet(long index, int count) {
            throw unsupported();
        }

        @Override
        public ResultSet getResultSet(long index, int count, Map<String, Class<?>> map) {
            throw unsupported();
        }

        @Override
        public void free() {
            // There is nothing to free.
        }

        private static UnsupportedOperationException unsupported() {
            return new UnsupportedOperationException("The array of a parameter is its elements and nothing more");
        }
    }
}
