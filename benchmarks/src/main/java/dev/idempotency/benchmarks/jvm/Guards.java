package dev.idempotency.benchmarks.jvm;

import dev.idempotency.internal.jdbc.GuardedConnection;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Reads a row on the connection that user code gets, and on the one behind it; in H2's memory, so that no network hides
 * the difference.
 */
@State(Scope.Benchmark)
@SuppressWarnings("NullAway.Init") // JMH calls the set-up before anything else
public class Guards {
    private Connection bare;
    private Connection guarded;

    /**
     * Opens the connection and makes a table with one row.
     *
     * @throws SQLException if the database does not start
     */
    @Setup(Level.Trial)
    public void open() throws SQLException {
        bare = DriverManager.getConnection("jdbc:h2:mem:");
        try (Statement statement = bare.createStatement()) {
            statement.execute("CREATE TABLE item (id bigint PRIMARY KEY, name varchar(20))");
            statement.execute("INSERT INTO item VALUES (1, 'an item')");
        }
        bare.setAutoCommit(false);
        guarded = GuardedConnection.of(bare, (failure, rollbackOnly) -> {});
    }

    /**
     * Closes the connection.
     *
     * @throws SQLException if that fails
     */
    @TearDown(Level.Trial)
    public void close() throws SQLException {
        bare.close();
    }

    /**
     * Reads a row without the guard.
     *
     * @return what was read
     * @throws SQLException if that fails
     */
    @Benchmark
    public String bareConnection() throws SQLException {
        return read(bare);
    }

    /**
     * Reads a row through the guard.
     *
     * @return what was read
     * @throws SQLException if that fails
     */
    @Benchmark
    public String guardedConnection() throws SQLException {
        return read(guarded);
    }

    private static String read(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT name FROM item WHERE id = ?")) {
            statement.setLong(1, 1);
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                return rows.getString(1);
            }
        }
    }
}
