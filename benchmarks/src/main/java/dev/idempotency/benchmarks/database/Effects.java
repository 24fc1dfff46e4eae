package dev.idempotency.benchmarks.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.UUID;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;

/** The business side of all forms: one row in a table that knows nothing of keys. */
public final class Effects {
    private static final String INSERT = "INSERT INTO bench_effect (source, item, amount) VALUES (?, ?, ?)";

    private Effects() {}

    static void createTable(Jdbi jdbi) {
        jdbi.useHandle(handle -> handle.execute("""
                CREATE TABLE bench_effect (
                    effect_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                    source uuid NOT NULL,
                    item text NOT NULL,
                    amount integer NOT NULL
                )
                """));
    }

    /**
     * Writes one row.
     *
     * @param connection in whose transaction
     * @param source what the row stands for
     * @throws SQLException if it failed
     */
    public static void insert(Connection connection, UUID source) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(INSERT)) {
            bind(statement, source);
            statement.executeUpdate();
        }
    }

    /**
     * Writes one row for each source, in one batch of the driver.
     *
     * @param connection in whose transaction
     * @param sources what the rows stand for
     * @throws SQLException if it failed
     */
    public static void insertAll(Connection connection, Iterable<UUID> sources) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(INSERT)) {
            for (UUID source : sources) {
                bind(statement, source);
                statement.addBatch();
            }
            statement.executeBatch();
        }
    }

    private static void bind(PreparedStatement statement, UUID source) throws SQLException {
        statement.setObject(1, source);
        statement.setString(2, "an item");
        statement.setInt(3, 100);
    }

    /** Work within a transaction that JDBC alone opens and ends. */
    @FunctionalInterface
    public interface BareWork {
        /**
         * Does the work.
         *
         * @param connection the transaction's connection
         * @throws SQLException if it failed
         */
        void run(Connection connection) throws SQLException;
    }

    /**
     * Runs the work as an application without the library would.
     *
     * @param pool where the connection comes from
     * @param work what to do between begin and commit
     * @throws SQLException if it failed; nothing is left of it
     */
    public static void inBareTransaction(DataSource pool, BareWork work) throws SQLException {
        // A connection that is closed in a transaction is rolled back by the pool.
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            work.run(connection);
            connection.commit();
        }
    }
}
