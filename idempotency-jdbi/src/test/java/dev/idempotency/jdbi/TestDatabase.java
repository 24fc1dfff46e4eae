package dev.idempotency.jdbi;

import dev.idempotency.testkit.fault.Fault;
import dev.idempotency.testkit.fault.FaultInjectingDataSource;
import dev.idempotency.testkit.fault.JdbcPoint;
import dev.idempotency.transaction.Transaction;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;

/** A database with the tables of this module and one for business rows, and the means to hurt those who use it. */
abstract class TestDatabase implements AutoCloseable {
    private static final int MAX_TRIES = 1000;

    /** Opens connections of whatever kind the test is about. */
    abstract DataSource dataSource();

    /** Subtracts microseconds, given as a parameter, from a column. */
    abstract String earlier(String column);

    /** Yields a number that names the session in {@link #killSession}. */
    abstract String sessionId();

    abstract String killSession(long id);

    @Override
    public abstract void close();

    final void prepare() {
        SchemaInstaller.of(dataSource()).install();
        execute("CREATE TABLE effect (id varchar(300) NOT NULL)");
    }

    final void passTime(Duration duration) {
        String sql = """
                UPDATE idempotency_record
                SET created_at = %s,
                expires_at = %s,
                lease_until = %s
                """.formatted(earlier("created_at"), earlier("expires_at"), earlier("lease_until"));
        for (int tries = 1; ; tries++) {
            try (Connection connection = dataSource().getConnection();
                    PreparedStatement statement = connection.prepareStatement(sql)) {
                for (int i = 1; i <= 3; i++) {
                    statement.setLong(i, duration.toNanos() / 1000);
                }
                statement.executeUpdate();
                if (!connection.getAutoCommit()) {
                    connection.commit();
                }
                return;
            } catch (SQLException e) {
                if (!SqlErrors.isConflict(e) || tries == MAX_TRIES) {
                    throw new IllegalStateException("Time could not be made to pass", e);
                }
            }
        }
    }

    final void addEffect(Transaction transaction, String name) {
        try (PreparedStatement statement =
                transaction.unwrap(Connection.class).prepareStatement("INSERT INTO effect (id) VALUES (?)")) {
            statement.setString(1, name);
            statement.executeUpdate();
        } catch (SQLException e) {
            throw SqlErrors.translate("The effect", e);
        }
    }

    final int countEffects(String name) {
        try (Connection connection = dataSource().getConnection();
                PreparedStatement statement = connection.prepareStatement("SELECT COUNT(*) FROM effect WHERE id = ?")) {
            statement.setString(1, name);
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                return rows.getInt(1);
            }
        } catch (SQLException e) {
            throw new IllegalStateException("The effects could not be counted", e);
        }
    }

    final void crash(Transaction transaction) {
        long session = number(transaction.unwrap(Connection.class), sessionId());
        execute(killSession(session));
        awaitEnd(session);
    }

    /** Waits until a session that was killed is over, where {@link #killSession} does not. */
    void awaitEnd(long session) {}

    final long count(String query) {
        try (Connection connection = dataSource().getConnection()) {
            return number(connection, query);
        } catch (SQLException e) {
            throw new IllegalStateException("Refused: " + query, e);
        }
    }

    final void execute(String sql) {
        try (Connection connection = dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
            if (!connection.getAutoCommit()) {
                connection.commit();
            }
        } catch (SQLException e) {
            throw new IllegalStateException("Refused: " + sql, e);
        }
    }

    static long number(Connection connection, String query) {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            rows.next();
            return rows.getLong(1);
        } catch (SQLException e) {
            throw SqlErrors.translate("A query of the test", e);
        }
    }

    final FaultInjectingDataSource losingTheCommit(boolean committed) {
        return losingTheCommit(committed, () -> {});
    }

    /** Runs something between the loss and the next connection. */
    final FaultInjectingDataSource losingTheCommit(boolean committed, Runnable meanwhile) {
        FaultInjectingDataSource faulty = FaultInjectingDataSource.wrap(dataSource());
        Fault next = connection -> faulty.inject(JdbcPoint.BEFORE_CONNECT, Fault.run(meanwhile));
        faulty.inject(committed ? JdbcPoint.AFTER_COMMIT : JdbcPoint.BEFORE_COMMIT, next.then(Fault.cut()));
        return faulty;
    }
}
