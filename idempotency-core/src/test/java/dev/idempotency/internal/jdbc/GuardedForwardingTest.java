package dev.idempotency.internal.jdbc;

import static java.util.function.Predicate.not;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.sql.Array;
import java.sql.BatchUpdateException;
import java.sql.Blob;
import java.sql.CallableStatement;
import java.sql.Clob;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.NClob;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransactionRollbackException;
import java.sql.SQLTransientConnectionException;
import java.sql.SQLXML;
import java.sql.Statement;
import java.sql.Struct;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Walks over every method of every JDBC interface that is wrapped. */
class GuardedForwardingTest {
    /** Through these a connection, a statement or an error could escape. */
    private static final Set<Class<?>> WRAPPED = Set.of(
            Connection.class,
            Statement.class,
            PreparedStatement.class,
            CallableStatement.class,
            ResultSet.class,
            DatabaseMetaData.class,
            Blob.class,
            Clob.class,
            NClob.class,
            SQLXML.class,
            Array.class);

    /** What GuardedConnection does not forward, or only sometimes: GuardedConnectionTest says what it does. */
    private static final Set<String> DECIDED = Set.of(
            "commit",
            "rollback[]",
            "abort",
            "close",
            "setAutoCommit",
            "getAutoCommit",
            "setReadOnly",
            "setCatalog",
            "setSchema",
            "setTransactionIsolation",
            "setHoldability",
            "setTypeMap",
            "setClientInfo",
            "setNetworkTimeout",
            "setShardingKey",
            "setShardingKeyIfValid",
            "beginRequest",
            "endRequest");

    private final ScriptedDriver driver = new ScriptedDriver();
    private final List<SQLException> seen = new ArrayList<>();
    private boolean rollbackOnly;

    static Stream<Arguments> wrapped() {
        return Stream.of(
                Arguments.of(Connection.class, GuardedConnection.class),
                Arguments.of(Statement.class, GuardedStatement.class),
                Arguments.of(PreparedStatement.class, GuardedPreparedStatement.class),
                Arguments.of(CallableStatement.class, GuardedCallableStatement.class),
                Arguments.of(ResultSet.class, GuardedResultSet.class),
                Arguments.of(DatabaseMetaData.class, GuardedDatabaseMetaData.class),
                Arguments.of(Blob.class, GuardedBlob.class),
                Arguments.of(Clob.class, GuardedClob.class),
                Arguments.of(NClob.class, GuardedNClob.class),
                Arguments.of(SQLXML.class, GuardedSQLXML.class),
                Arguments.of(Array.class, GuardedArray.class));
    }

    /** Fails on a JDK that has added methods: each needs a decision, as a default body may bypass the driver. */
    @ParameterizedTest
    @MethodSource("wrapped")
    void everyMethodOfThisJdksInterface_isDeclared(Class<?> type, Class<?> guardedType) throws NoSuchMethodException {
        List<Method> inherited = new ArrayList<>();
        for (Method method : methods(type)) {
            Method found = guardedType.getMethod(method.getName(), method.getParameterTypes());
            if (found.getDeclaringClass().isInterface()) {
                inherited.add(method);
            }
        }

        assertThat(inherited)
                .as("methods of %s on Java %s about which %s decides nothing", type, Runtime.version(), guardedType)
                .isEmpty();
    }

    @ParameterizedTest
    @MethodSource("wrapped")
    void everyMethod_callsTheSameMethodOfTheDriverOnce(Class<?> type, Class<?> guardedType) throws Throwable {
        Object guarded = obtain(type);
        for (Method method : forwarded(type)) {
            @Nullable Object[] arguments = arguments(method);
            driver.calls().clear();

            invoke(guarded, method, arguments);

            if (method.getName().equals("getConnection")) {
                assertThat(driver.calls()).isEmpty();
                continue;
            }
            assertThat(driver.calls()).as("%s", method).hasSize(1);
            ScriptedDriver.Call call = driver.calls().get(0);
            assertThat(call.method().getName()).isEqualTo(method.getName());
            assertThat(call.method().getParameterTypes()).as("%s", method).isEqualTo(method.getParameterTypes());
            assertThat(call.arguments()).as("%s", method).isEqualTo(Arrays.asList(arguments));
        }
    }

    @ParameterizedTest
    @MethodSource("wrapped")
    void everyFailure_isObservedAndThrownAsItIs(Class<?> type, Class<?> guardedType) throws Throwable {
        Object guarded = obtain(type);
        SQLException failure = new SQLException("the transaction is gone", "40001");
        for (Method method : forwarded(type)) {
            if (method.getExceptionTypes().length == 0 || method.getName().equals("getConnection")) {
                continue;
            }
            @Nullable Object[] arguments = arguments(method);
            seen.clear();
            rollbackOnly = false;
            driver.failWith(failure);

            assertThat(catchThrowable(() -> invoke(guarded, method, arguments)))
                    .as("%s", method)
                    .isSameAs(failure);

            assertThat(seen).as("%s", method).containsExactly(failure);
            assertThat(rollbackOnly).as("%s", method).isTrue();
            driver.succeed();
        }
    }

    @ParameterizedTest
    @MethodSource("wrapped")
    void everyUseAfterTheEnd_isRefusedWithoutAskingTheDriver(Class<?> type, Class<?> guardedType) throws Throwable {
        GuardedConnection connection = guard();
        Object guarded = type == Connection.class ? connection : obtain(connection, type);
        List<Method> methods = forwarded(type).stream()
                .filter(method -> method.getExceptionTypes().length > 0)
                .filter(method ->
                        !Set.of("close", "isClosed", "isValid", "free").contains(method.getName()))
                .toList();
        List<@Nullable Object[]> arguments =
                methods.stream().map(this::arguments).toList();
        connection.expire();
        driver.calls().clear();

        for (int index = 0; index < methods.size(); index++) {
            Method method = methods.get(index);
            @Nullable Object[] values = arguments.get(index);
            assertThatThrownBy(() -> invoke(guarded, method, values))
                    .as("%s", method)
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("has ended");
        }
        assertThat(driver.calls()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("wrapped")
    void everyJdbcObject_isGuardedAndLeadsBack(Class<?> type, Class<?> guardedType) throws Throwable {
        GuardedConnection connection = guard();
        Object guarded = type == Connection.class ? connection : obtain(connection, type);
        assertThat(guarded).isInstanceOf(guardedType);
        assertThat(guarded.toString()).contains("driver's " + type.getSimpleName());
        for (Method method : forwarded(type)) {
            Object result = invoke(guarded, method, arguments(method));
            if (WRAPPED.contains(method.getReturnType())) {
                assertThat(result).as("%s", method).isNotNull();
                assertThat(result.getClass().getPackage()).as("%s", method).isEqualTo(Guard.class.getPackage());
                assertLeadsBack(connection, result);
            }
        }
    }

    private static void assertLeadsBack(GuardedConnection connection, Object result) throws SQLException {
        if (result instanceof Connection leak) {
            assertThat(leak).isSameAs(connection);
        }
        if (result instanceof Statement statement) {
            assertThat(statement.getConnection()).isSameAs(connection);
        }
        if (result instanceof DatabaseMetaData metaData) {
            assertThat(metaData.getConnection()).isSameAs(connection);
        }
        if (result instanceof ResultSet resultSet) {
            assertThat(resultSet.getStatement().getConnection()).isSameAs(connection);
        }
    }

    @Test
    void resultSet_ofAStatement_givesThatStatementBack() throws SQLException {
        PreparedStatement statement = guard().prepareStatement("select");

        assertThat(statement.executeQuery().getStatement()).isSameAs(statement);
        assertThat(statement.getGeneratedKeys().getStatement()).isSameAs(statement);
        assertThat(statement.getResultSet().getStatement()).isSameAs(statement);
    }

    @Test
    void resultSet_ofMetaData_givesAStatementOfTheSameKind() throws SQLException {
        GuardedConnection connection = guard();
        Guard guard = connection.guard;

        assertThat(guard.ownerOf(driver.make(CallableStatement.class), null))
                .isInstanceOf(GuardedCallableStatement.class);
        assertThat(guard.ownerOf(driver.make(PreparedStatement.class), null))
                .isInstanceOf(GuardedPreparedStatement.class);
        assertThat(guard.ownerOf(driver.make(Statement.class), null)).isInstanceOf(GuardedStatement.class);
        assertThat(guard.ownerOf(null, null)).isNull();
        assertThat(connection.getMetaData().getTables(null, null, "%", null).getStatement())
                .isInstanceOf(GuardedStatement.class);
    }

    @Test
    void objectOfAColumn_isGuardedWhereItCouldFailOrLeak() {
        Guard guard = guard().guard;
        for (Class<?> type : List.of(ResultSet.class, Array.class, Blob.class, Clob.class, NClob.class, SQLXML.class)) {
            Object value = driver.make(type);

            assertThat(guard.object(value)).isInstanceOf(type).matches(not(driver::made));
        }
        for (Object value : List.of("text", 1, 2L, List.of(), driver.make(Struct.class))) {
            assertThat(guard.object(value)).isSameAs(value);
        }
        assertThat(guard.object(null)).isNull();
    }

    @Test
    void objectOfAColumn_askedForByTheDriversClass_isTheDrivers() {
        Guard guard = guard().guard;
        Blob blob = driver.make(Blob.class);

        assertThat(guard.object(blob, Blob.class)).isInstanceOf(GuardedBlob.class);
        assertThat(guard.<Object>object(blob, blobClass(blob))).isSameAs(blob);
    }

    @SuppressWarnings("unchecked")
    private static Class<Object> blobClass(Blob blob) {
        return (Class<Object>) (Class<?>) blob.getClass();
    }

    @Test
    void nullOfTheDriver_staysNull() {
        Guard guard = guard().guard;

        assertThat(guard.resultSet(null)).isNull();
        assertThat(guard.blob(null)).isNull();
        assertThat(guard.clob(null)).isNull();
        assertThat(guard.nclob(null)).isNull();
        assertThat(guard.sqlxml(null)).isNull();
        assertThat(guard.array(null)).isNull();
        assertThat(guard.object(null, String.class)).isNull();
        assertThat(GuardedLocator.<@Nullable Blob>raw(null)).isNull();
    }

    @Test
    void locator_passedToAStatement_isTheDriversOwn() throws SQLException {
        GuardedConnection connection = guard();
        PreparedStatement statement = connection.prepareStatement("insert");
        Blob blob = connection.createBlob();
        driver.calls().clear();

        statement.setBlob(1, blob);
        statement.setObject(1, blob);

        assertThat(driver.calls())
                .allSatisfy(call ->
                        assertThat(call.arguments().get(1)).isNotSameAs(blob).matches(driver::made));
    }

    @Test
    void clob_thatIsAnNClob_staysOne() {
        assertThat(guard().guard.clob(driver.make(NClob.class))).isInstanceOf(NClob.class);
    }

    static Stream<SQLException> endingTheTransaction() {
        SQLException lost = new SQLException("deadlock", "40P01");
        SQLException batch = new BatchUpdateException("a row failed", "23505", new int[0]);
        batch.setNextException(new SQLException("another one", "23505"));
        batch.setNextException(lost);
        SQLException circular = new SQLException("round", "23505");
        circular.initCause(new SQLException("and round", "23505", circular));
        return Stream.of(
                new SQLException("serialization failure", "40001"),
                lost,
                new SQLException("connection does not exist", "08003"),
                new SQLException("connection failure", "08006"),
                new SQLTransactionRollbackException("no state"),
                new SQLTransientConnectionException("no state"),
                new SQLNonTransientConnectionException("a vendor's state", "90067"),
                new SQLRecoverableException("no state"),
                batch,
                new SQLException("wrapped", "HY000", new IllegalStateException("in between", lost)),
                circular);
    }

    @ParameterizedTest
    @MethodSource
    void endingTheTransaction(SQLException failure) throws SQLException {
        assertThat(makesRollbackOnly(failure)).isTrue();
    }

    static Stream<SQLException> leavingTheTransaction() {
        SQLException batch = new BatchUpdateException("a row failed", "23505", new int[0]);
        batch.setNextException(new SQLException("another one", "23505"));
        return Stream.of(
                new SQLException("unique", "23505"),
                new SQLException("aborted until a rollback, which may be to a savepoint", "25P02"),
                new SQLException("lock not available", "55P03"),
                new SQLException("no state"),
                new SQLException("no state", (String) null, new IllegalStateException("unrelated")),
                batch);
    }

    @ParameterizedTest
    @MethodSource
    void leavingTheTransaction(SQLException failure) throws SQLException {
        assertThat(makesRollbackOnly(failure)).isFalse();
    }

    private boolean makesRollbackOnly(SQLException failure) throws SQLException {
        ResultSet resultSet = guard().createStatement().executeQuery("select");
        driver.failWith(failure);

        assertThat(catchThrowable(resultSet::next)).isSameAs(failure);

        assertThat(seen).containsExactly(failure);
        return rollbackOnly;
    }

    private GuardedConnection guard() {
        try {
            return GuardedConnection.of(driver.connection(), (failure, lost) -> {
                seen.add(failure);
                rollbackOnly |= lost;
            });
        } catch (SQLException unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    private Object obtain(Class<?> type) throws SQLException {
        return obtain(guard(), type);
    }

    private static Object obtain(Connection connection, Class<?> type) throws SQLException {
        return switch (type.getSimpleName()) {
            case "Connection" -> connection;
            case "Statement" -> connection.createStatement();
            case "PreparedStatement" -> connection.prepareStatement("select");
            case "CallableStatement" -> connection.prepareCall("call");
            case "ResultSet" -> connection.createStatement().executeQuery("select");
            case "DatabaseMetaData" -> connection.getMetaData();
            case "Blob" -> connection.createBlob();
            case "Clob" -> connection.createStatement().executeQuery("select").getClob(1);
            case "NClob" -> connection.createNClob();
            case "SQLXML" -> connection.createSQLXML();
            case "Array" -> connection.createArrayOf("int", new Object[0]);
            default -> throw new AssertionError(type);
        };
    }

    private @Nullable Object[] arguments(Method method) {
        return Arrays.stream(method.getParameterTypes())
                // The driver's class for unwrap and getObject: it is none of ours.
                .map(type -> type == Class.class ? Number.class : driver.value(type, Object.class))
                .toArray();
    }

    private static List<Method> methods(Class<?> type) {
        return Arrays.stream(type.getMethods())
                .filter(method -> !Modifier.isStatic(method.getModifiers()))
                .toList();
    }

    private static List<Method> forwarded(Class<?> type) {
        return methods(type).stream()
                .filter(method -> type != Connection.class || !isDecided(method))
                .toList();
    }

    private static boolean isDecided(Method method) {
        return DECIDED.contains(method.getName())
                || DECIDED.contains(method.getName() + Arrays.toString(method.getParameterTypes()));
    }

    private static @Nullable Object invoke(Object target, Method method, @Nullable Object[] arguments)
            throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException wrapped) {
            throw wrapped.getCause();
        }
    }
}
