package dev.idempotency.transaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.internal.jdbc.GuardedConnection;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class JoiningDataSourceTest {
    private final JdbcDataSource database = new JdbcDataSource();
    private final JoiningDataSource joining = JoiningDataSource.of(database);
    private final ExecutorService otherThread = Executors.newSingleThreadExecutor();
    private Connection raw;
    private GuardedConnection guarded;

    @BeforeEach
    void begin() throws SQLException {
        database.setUrl("jdbc:h2:mem:joining");
        database.setUser("sa");
        database.setPassword("pw");
        raw = database.getConnection();
        try (Statement statement = raw.createStatement()) {
            statement.execute("create table item (id int primary key)");
        }
        raw.setAutoCommit(false);
        guarded = GuardedConnection.of(raw, (failure, rollbackOnly) -> {});
    }

    @AfterEach
    void close() throws SQLException {
        otherThread.shutdownNow();
        try (Statement statement = raw.createStatement()) {
            statement.execute("shutdown");
        }
    }

    @Test
    void getConnection_outsideATransaction_isThePools() throws SQLException {
        assertThat(joining.isInTransaction()).isFalse();
        try (Connection connection = joining.getConnection()) {
            assertThat(connection).isNotInstanceOf(GuardedConnection.class);
            assertThat(connection.getAutoCommit()).isTrue();
        }
    }

    @Test
    void getConnection_insideATransaction_isTheTransactions() throws SQLException {
        JoiningDataSource.Binding binding = joining.bind(guarded);

        assertThat(joining.isInTransaction()).isTrue();
        assertThat(joining.getConnection()).isSameAs(guarded);
        assertThat(joining.getConnection()).isSameAs(guarded);

        binding.close();
        assertThat(joining.isInTransaction()).isFalse();
        try (Connection connection = joining.getConnection()) {
            assertThat(connection).isNotSameAs(guarded);
        }
    }

    /** What Jdbi and JdbcTemplate do around each call: open, set the mode, work, try to end, restore, close. */
    @Test
    void getConnection_usedAsIfItWereOnesOwn_isCommittedByTheOwnerOnly() throws SQLException {
        JoiningDataSource.Binding binding = joining.bind(guarded);
        for (int id = 1; id <= 2; id++) {
            try (Connection connection = joining.getConnection()) {
                boolean autoCommit = connection.getAutoCommit();
                connection.setAutoCommit(false);
                insert(connection, id);
                assertThatThrownBy(connection::commit).hasMessageContaining("commit() refused");
                connection.setAutoCommit(autoCommit);
            }
        }
        guarded.expire();
        binding.close();

        assertThat(rowsSeenFromOutside()).isZero();
        raw.commit();
        assertThat(rowsSeenFromOutside()).isEqualTo(2);
    }

    @Test
    void getConnection_afterTheTransactionEnded_isRefusedUntilTheBindingIsClosed() throws SQLException {
        JoiningDataSource.Binding binding = joining.bind(guarded);
        guarded.expire();

        assertThatThrownBy(joining::getConnection)
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("has ended but is still bound");

        binding.close();
        joining.getConnection().close();
    }

    @Test
    void getConnection_forAnotherUser_isRefusedInsideATransaction() throws SQLException {
        joining.getConnection("sa", "pw").close();
        JoiningDataSource.Binding binding = joining.bind(guarded);

        assertThatThrownBy(() -> joining.getConnection("sa", "pw"))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("outside of it");

        binding.close();
        joining.getConnection("sa", "pw").close();
    }

    @Test
    void getConnection_onAnotherThread_isOutside() throws SQLException {
        JoiningDataSource.Binding binding = joining.bind(guarded);

        CompletableFuture.runAsync(
                        () -> {
                            assertThat(joining.isInTransaction()).isFalse();
                            try (Connection connection = joining.getConnection()) {
                                assertThat(connection).isNotInstanceOf(GuardedConnection.class);
                                insert(connection, 7);
                            } catch (SQLException failure) {
                                throw new AssertionError(failure);
                            }
                        },
                        otherThread)
                .join();

        binding.close();
        raw.rollback();
        assertThat(rowsSeenFromOutside()).as("it was not rolled back").isEqualTo(1);
    }

    @Test
    void bind_twiceOnOneThread_isRefusedAndKeepsTheFirst() throws SQLException {
        JoiningDataSource.Binding binding = joining.bind(guarded);

        assertThatIllegalStateException()
                .isThrownBy(() -> joining.bind(guarded))
                .withMessageContaining("already runs one");
        assertThat(joining.getConnection()).isSameAs(guarded);

        binding.close();
        joining.bind(guarded).close();
    }

    @Test
    void bind_onAnotherDataSource_isIndependent() throws SQLException {
        JoiningDataSource other = JoiningDataSource.of(database);
        JoiningDataSource.Binding binding = joining.bind(guarded);

        other.bind(guarded).close();

        assertThat(joining.getConnection()).isSameAs(guarded);
        binding.close();
    }

    @Test
    void closeOfABinding_twice_doesNotEndTheNextOne() throws SQLException {
        JoiningDataSource.Binding first = joining.bind(guarded);
        first.close();
        JoiningDataSource.Binding second = joining.bind(guarded);

        first.close();

        assertThat(joining.getConnection()).isSameAs(guarded);
        second.close();
    }

    @Test
    void closeOfABinding_onAnotherThread_isRefused() throws SQLException {
        JoiningDataSource.Binding binding = joining.bind(guarded);

        assertThatThrownBy(() ->
                        CompletableFuture.runAsync(binding::close, otherThread).join())
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(IllegalStateException.class)
                .hasMessageContaining("close it where bind was called");

        assertThat(joining.getConnection()).isSameAs(guarded);
        binding.close();
    }

    @Test
    void of_aJoiningDataSource_isTheSame() {
        assertThat(JoiningDataSource.of(joining)).isSameAs(joining);
    }

    @Test
    void createConnectionBuilder_isRefused_becauseItCouldBuildOutsideConnectionsLater() {
        DataSource able = (DataSource) Proxy.newProxyInstance(
                DataSource.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (proxy, method, arguments) -> null);
        assertThatCode(able::createConnectionBuilder).doesNotThrowAnyException();

        assertThatThrownBy(JoiningDataSource.of(able)::createConnectionBuilder)
                .isInstanceOf(SQLFeatureNotSupportedException.class);
    }

    @Test
    void unwrap_asADataSource_isItself() throws SQLException {
        assertThat(joining.unwrap(DataSource.class)).isSameAs(joining);
        assertThat(joining.unwrap(JdbcDataSource.class)).isSameAs(database);
        assertThat(joining.isWrapperFor(DataSource.class)).isTrue();
        assertThat(joining.isWrapperFor(JdbcDataSource.class)).isTrue();
        assertThat(joining.isWrapperFor(Number.class)).isFalse();
        assertThat(joining.delegate()).isSameAs(database);
        assertThat(joining).hasToString("joining " + database);
    }

    @Test
    void settings_areTheDelegates() throws SQLException {
        PrintWriter log = new PrintWriter(new StringWriter());

        joining.setLoginTimeout(3);
        joining.setLogWriter(log);

        assertThat(database.getLoginTimeout()).isEqualTo(3);
        assertThat(joining.getLoginTimeout()).isEqualTo(3);
        assertThat(joining.getLogWriter()).isSameAs(log);
    }

    private static void insert(Connection connection, int id) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate("insert into item values (" + id + ")");
        }
    }

    private int rowsSeenFromOutside() throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet resultSet = statement.executeQuery("select count(*) from item")) {
            resultSet.next();
            return resultSet.getInt(1);
        }
    }
}
