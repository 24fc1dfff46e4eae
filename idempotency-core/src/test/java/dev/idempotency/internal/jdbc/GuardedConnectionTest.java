package dev.idempotency.internal.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLClientInfoException;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Wrapper;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.h2.jdbc.JdbcConnection;
import org.h2.jdbc.JdbcDatabaseMetaData;
import org.h2.jdbc.JdbcResultSet;
import org.h2.jdbc.JdbcStatement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class GuardedConnectionTest {
    private final List<SQLException> seen = new ArrayList<>();
    private boolean rollbackOnly;
    private Connection connection;
    private GuardedConnection guarded;

    @BeforeEach
    void begin() throws SQLException {
        connection = DriverManager.getConnection("jdbc:h2:mem:");
        try (Statement statement = connection.createStatement()) {
            statement.execute("create table item (id int primary key, name varchar(20))");
        }
        connection.setAutoCommit(false);
        guarded = GuardedConnection.of(connection, (failure, lost) -> {
            seen.add(failure);
            rollbackOnly |= lost;
        });
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
    }

    @Test
    void of_connectionInAutocommit_isRefused() throws SQLException {
        connection.setAutoCommit(true);

        assertThatIllegalStateException()
                .isThrownBy(() -> GuardedConnection.of(connection, (failure, lost) -> {}))
                .withMessageContaining("setAutoCommit(false)");
    }

    @Test
    void commit_isRefusedAndCommitsNothing() throws SQLException {
        insert(1);

        assertThatThrownBy(guarded::commit)
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("commit() refused")
                .hasMessageContaining("Return from the work")
                .extracting(failure -> ((SQLException) failure).getSQLState())
                .isEqualTo("2D000");

        assertThat(seen).hasSize(1);
        assertThat(rollbackOnly).isFalse();
        connection.rollback();
        assertThat(rows()).isZero();
    }

    @Test
    void setAutoCommitTrue_isRefusedAndCommitsNothing() throws SQLException {
        insert(1);

        assertThatThrownBy(() -> guarded.setAutoCommit(true))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("setAutoCommit(true) refused");

        assertThat(guarded.getAutoCommit()).isFalse();
        assertThat(connection.getAutoCommit()).isFalse();
        connection.rollback();
        assertThat(rows()).isZero();
    }

    @Test
    void setAutoCommitFalse_doesNothing() throws SQLException {
        insert(1);

        guarded.setAutoCommit(false);

        assertThat(seen).isEmpty();
        assertThat(rows()).isEqualTo(1);
    }

    @Test
    void rollback_isRefusedAndMakesTheTransactionRollbackOnly() throws SQLException {
        insert(1);

        assertThatThrownBy(guarded::rollback)
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("rollback() refused")
                .hasMessageContaining("setRollbackOnly()")
                .hasMessageContaining("savepoint");

        assertThat(rows()).isEqualTo(1);
        assertThat(rollbackOnly).isTrue();
    }

    @Test
    void abort_isRefusedAndMakesTheTransactionRollbackOnly() throws SQLException {
        assertThatThrownBy(() -> guarded.abort(Runnable::run))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("abort(executor) refused");

        assertThat(connection.isClosed()).isFalse();
        assertThat(rollbackOnly).isTrue();
    }

    @Test
    void savepoint_isTheUsers() throws SQLException {
        insert(1);
        Savepoint savepoint = guarded.setSavepoint();
        insert(2);
        Savepoint named = guarded.setSavepoint("named");
        insert(3);

        guarded.releaseSavepoint(named);
        assertThat(rows()).isEqualTo(3);
        guarded.rollback(savepoint);
        assertThat(rows()).isEqualTo(1);

        assertThat(seen).isEmpty();
        assertThat(rollbackOnly).isFalse();
    }

    @Test
    void close_doesNothing() throws SQLException {
        guarded.close();

        assertThat(guarded.isClosed()).isFalse();
        assertThat(guarded.isValid(1)).isTrue();
        assertThat(connection.isClosed()).isFalse();
        insert(1);
        assertThat(rows()).isEqualTo(1);
    }

    @Test
    void requestBoundaries_areThePools() {
        assertThatCode(() -> {
                    guarded.beginRequest();
                    guarded.endRequest();
                })
                .doesNotThrowAnyException();
    }

    @Test
    void sessionState_cannotBeChanged() throws SQLException {
        int isolation = connection.getTransactionIsolation();
        try (Statement statement = connection.createStatement()) {
            statement.execute("create schema other");
        }

        assertSessionStateRefused(() -> guarded.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE));
        assertSessionStateRefused(() -> guarded.setReadOnly(true));
        assertSessionStateRefused(() -> guarded.setHoldability(ResultSet.CLOSE_CURSORS_AT_COMMIT));
        assertSessionStateRefused(() -> guarded.setCatalog("other"));
        assertSessionStateRefused(() -> guarded.setSchema("OTHER"));
        assertSessionStateRefused(() -> guarded.setTypeMap(Map.of()));
        assertSessionStateRefused(() -> guarded.setNetworkTimeout(Runnable::run, 1_000));
        assertSessionStateRefused(() -> guarded.setShardingKey(null));
        assertSessionStateRefused(() -> guarded.setShardingKey(null, null));
        assertSessionStateRefused(() -> guarded.setShardingKeyIfValid(null, 1));
        assertSessionStateRefused(() -> guarded.setShardingKeyIfValid(null, null, 1));
        assertThatThrownBy(() -> guarded.setClientInfo("ApplicationName", "other"))
                .isInstanceOf(SQLClientInfoException.class)
                .hasMessageContaining("refused");
        assertThatThrownBy(() -> guarded.setClientInfo(new Properties()))
                .isInstanceOf(SQLClientInfoException.class)
                .hasMessageContaining("refused");

        assertThat(connection.getTransactionIsolation()).isEqualTo(isolation);
        assertThat(connection.getSchema()).isEqualTo("PUBLIC");
        assertThat(rollbackOnly).isFalse();
    }

    @Test
    void sessionState_mayBeSetToWhatItIs() throws SQLException {
        guarded.setTransactionIsolation(connection.getTransactionIsolation());
        guarded.setReadOnly(connection.isReadOnly());
        guarded.setHoldability(connection.getHoldability());
        guarded.setCatalog(connection.getCatalog());
        guarded.setSchema(connection.getSchema());
        guarded.setNetworkTimeout(Runnable::run, connection.getNetworkTimeout());

        assertThat(seen).isEmpty();
    }

    @Test
    void failure_ofAStatement_isObservedAndLeavesTheTransactionAlone() throws SQLException {
        insert(1);

        assertThatThrownBy(() -> insert(1))
                .isInstanceOf(SQLException.class)
                .satisfies(failure -> assertThat(seen).containsExactly((SQLException) failure));

        assertThat(rollbackOnly).isFalse();
    }

    @Test
    void failure_ofABatch_isObserved() throws SQLException {
        try (PreparedStatement statement = guarded.prepareStatement("insert into item values (?, 'x')")) {
            for (int id : new int[] {1, 2, 1}) {
                statement.setInt(1, id);
                statement.addBatch();
            }
            assertThatThrownBy(statement::executeBatch).isInstanceOf(BatchUpdateException.class);
        }

        assertThat(seen).singleElement().isInstanceOf(BatchUpdateException.class);
        assertThat(rollbackOnly).isFalse();
    }

    @Test
    void failure_afterTheServerWentAway_makesTheTransactionRollbackOnly() throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("shutdown immediately");
        }

        // H2 names it 90067 or 90121, which are of no class: JDBC's type tells.
        assertThatThrownBy(this::rows).isInstanceOf(SQLException.class);

        assertThat(rollbackOnly).isTrue();
    }

    @Test
    void unwrap_givesTheDriversTypeButNeverAConnection() throws SQLException {
        assertThat(guarded.unwrap(Connection.class)).isSameAs(guarded);
        assertThat(guarded.unwrap(AutoCloseable.class)).isSameAs(guarded);
        assertThat(guarded.isWrapperFor(Connection.class)).isTrue();
        assertThat(guarded.isWrapperFor(Number.class)).isFalse();
        try (Statement statement = guarded.createStatement();
                ResultSet rows = statement.executeQuery("select 1")) {
            assertThat(statement.unwrap(Statement.class)).isSameAs(statement);
            assertThat(rows.unwrap(ResultSet.class)).isSameAs(rows);
        }
    }

    @Test
    void unwrap_driversOwnJdbcType_isRefused() throws SQLException {
        try (Statement statement = guarded.createStatement();
                ResultSet rows = statement.executeQuery("select 1")) {
            assertUnwrapRefused(guarded, JdbcConnection.class);
            assertUnwrapRefused(statement, JdbcStatement.class);
            assertUnwrapRefused(rows, JdbcResultSet.class);
            assertUnwrapRefused(guarded.getMetaData(), JdbcDatabaseMetaData.class);
        }
        assertThat(rollbackOnly).isFalse();
    }

    private static void assertUnwrapRefused(Wrapper wrapper, Class<?> type) throws SQLException {
        assertThat(wrapper.isWrapperFor(type)).isFalse();
        assertThatThrownBy(() -> wrapper.unwrap(type))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("unwrap(" + type.getName() + ".class) refused")
                .hasMessageContaining("PGConnection");
    }

    @Test
    void textThatEndsTheTransaction_isRefusedOnEveryWayAndMakesItRollbackOnly() throws SQLException {
        try (Statement statement = guarded.createStatement();
                PreparedStatement prepared = guarded.prepareStatement("select 1")) {
            for (Statement any : List.of(statement, prepared)) {
                assertTextRefused(() -> any.execute("COMMIT"));
                assertTextRefused(() -> any.execute("COMMIT", Statement.NO_GENERATED_KEYS));
                assertTextRefused(() -> any.execute("COMMIT", new int[0]));
                assertTextRefused(() -> any.execute("COMMIT", new String[0]));
                assertTextRefused(() -> any.executeUpdate("COMMIT"));
                assertTextRefused(() -> any.executeUpdate("COMMIT", Statement.NO_GENERATED_KEYS));
                assertTextRefused(() -> any.executeUpdate("COMMIT", new int[0]));
                assertTextRefused(() -> any.executeUpdate("COMMIT", new String[0]));
                assertTextRefused(() -> any.executeLargeUpdate("COMMIT"));
                assertTextRefused(() -> any.executeLargeUpdate("COMMIT", Statement.NO_GENERATED_KEYS));
                assertTextRefused(() -> any.executeLargeUpdate("COMMIT", new int[0]));
                assertTextRefused(() -> any.executeLargeUpdate("COMMIT", new String[0]));
                assertTextRefused(() -> any.executeQuery("COMMIT"));
                assertTextRefused(() -> any.addBatch("COMMIT"));
            }
        }
        assertTextRefused(() -> guarded.prepareStatement("COMMIT"));
        assertTextRefused(() -> guarded.prepareStatement("COMMIT", Statement.NO_GENERATED_KEYS));
        assertTextRefused(() -> guarded.prepareStatement("COMMIT", new int[0]));
        assertTextRefused(() -> guarded.prepareStatement("COMMIT", new String[0]));
        assertTextRefused(
                () -> guarded.prepareStatement("COMMIT", ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY));
        assertTextRefused(() -> guarded.prepareStatement(
                "COMMIT", ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY, ResultSet.HOLD_CURSORS_OVER_COMMIT));
        assertTextRefused(() -> guarded.prepareCall("COMMIT"));
        assertTextRefused(() -> guarded.prepareCall("COMMIT", ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY));
        assertTextRefused(() -> guarded.prepareCall(
                "COMMIT", ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY, ResultSet.HOLD_CURSORS_OVER_COMMIT));
    }

    private void assertTextRefused(ThrowingCallable attempt) throws SQLException {
        insert(1);
        rollbackOnly = false;

        assertThatThrownBy(attempt)
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("The statement COMMIT refused")
                .hasMessageContaining("return from the work")
                .extracting(failure -> ((SQLException) failure).getSQLState())
                .isEqualTo("2D000");

        assertThat(rollbackOnly).isTrue();
        connection.rollback();
        assertThat(rows()).isZero();
    }

    @Test
    void rollbackToSavepointAsText_passes() throws SQLException {
        try (Statement statement = guarded.createStatement()) {
            statement.execute("SAVEPOINT before");
            insert(1);
            statement.execute("ROLLBACK TO SAVEPOINT before");
        }

        assertThat(rows()).isZero();
        assertThat(seen).isEmpty();
    }

    @Test
    void toString_namesTheDriversConnection() {
        assertThat(guarded).hasToString("guarded " + connection);
    }

    @Test
    void expire_makesEveryUseThrow() throws SQLException {
        insert(1);
        Statement statement = guarded.createStatement();
        ResultSet resultSet = statement.executeQuery("select id from item");

        guarded.expire();
        guarded.expire();

        assertThat(guarded.isClosed()).isTrue();
        assertThat(guarded.isValid(1)).isFalse();
        assertEnded(guarded::commit);
        assertEnded(guarded::rollback);
        assertEnded(() -> guarded.setAutoCommit(false));
        assertEnded(guarded::createStatement);
        assertEnded(() -> statement.execute("insert into item values (2, 'late')"));
        assertEnded(statement::cancel);
        assertEnded(statement::getConnection);
        assertEnded(resultSet::next);
        assertEnded(resultSet::getStatement);
        assertThat(seen).as("what happens later concerns nobody").isEmpty();
        assertThat(connection.isClosed()).isFalse();
        try (Statement own = connection.createStatement();
                ResultSet count = own.executeQuery("select count(*) from item")) {
            assertThat(count.next()).isTrue();
            assertThat(count.getInt(1)).isEqualTo(1);
        }
    }

    @Test
    void expire_letsTheUsersResourcesBeClosed() throws SQLException {
        Statement statement = guarded.createStatement();
        ResultSet resultSet = statement.executeQuery("select id from item");

        guarded.expire();
        resultSet.close();
        statement.close();
        guarded.close();

        assertThat(resultSet.isClosed()).isTrue();
        assertThat(statement.isClosed()).isTrue();
        assertThat(connection.isClosed()).isFalse();
    }

    private void insert(int id) throws SQLException {
        try (PreparedStatement statement = guarded.prepareStatement("insert into item values (?, 'x')")) {
            statement.setInt(1, id);
            statement.executeUpdate();
        }
    }

    private int rows() throws SQLException {
        try (Statement statement = guarded.createStatement();
                ResultSet resultSet = statement.executeQuery("select count(*) from item")) {
            resultSet.next();
            return resultSet.getInt(1);
        }
    }

    private void assertSessionStateRefused(ThrowingCallable change) {
        int before = seen.size();
        assertThatThrownBy(change)
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("refused")
                .hasMessageContaining("outlive it in the connection pool")
                .extracting(failure -> ((SQLException) failure).getSQLState())
                .isEqualTo("25001");
        assertThat(seen).hasSize(before + 1);
    }

    private static void assertEnded(ThrowingCallable use) {
        assertThatThrownBy(use)
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("has ended")
                .extracting(failure -> ((SQLException) failure).getSQLState())
                .isEqualTo("25000");
    }
}
