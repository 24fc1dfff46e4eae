package dev.idempotency.verification.matrix;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Short statements by which the matrix prepares and judges. */
final class Sql {
    private static final String EFFECT_TABLE =
            "CREATE TABLE IF NOT EXISTS effect (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
                    + " case_key VARCHAR(255) NOT NULL, item VARCHAR(255) NOT NULL, derived_key VARCHAR(255) NOT NULL)";
    private static final String BROKER_TABLE = "CREATE TABLE IF NOT EXISTS acknowledged_offset (case_key VARCHAR(255)"
            + " PRIMARY KEY, next_offset BIGINT NOT NULL)";

    private Sql() {}

    static void createTables(DataSource dataSource) {
        update(dataSource, EFFECT_TABLE);
        update(dataSource, BROKER_TABLE);
    }

    /** The effect of all work here: a row. */
    static void effect(Connection connection, String key, String item, String derived) throws SQLException {
        String sql = "INSERT INTO effect (case_key, item, derived_key) VALUES (?, ?, ?)";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, key);
            statement.setString(2, item);
            statement.setString(3, derived);
            statement.executeUpdate();
        }
    }

    /** How often the item of this key has taken effect. */
    static int effects(DataSource dataSource, String key, String item) {
        return number(dataSource, "SELECT count(*) FROM effect WHERE case_key = ? AND item = ?", key, item);
    }

    static int number(DataSource dataSource, String query, Object... parameters) {
        List<String> values = strings(dataSource, query, parameters);
        return values.isEmpty() ? 0 : Integer.parseInt(values.get(0));
    }

    static List<String> strings(DataSource dataSource, String query, Object... parameters) {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = bound(connection, query, parameters);
                ResultSet rows = statement.executeQuery()) {
            List<String> values = new ArrayList<>();
            while (rows.next()) {
                values.add(rows.getString(1));
            }
            return values;
        } catch (SQLException e) {
            throw new IllegalStateException("Refused: " + query, e);
        }
    }

    static int update(DataSource dataSource, String sql, Object... parameters) {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = bound(connection, sql, parameters)) {
            return statement.executeUpdate();
        } catch (SQLException e) {
            throw new IllegalStateException("Refused: " + sql, e);
        }
    }

    private static PreparedStatement bound(Connection connection, String sql, Object... parameters)
            throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        for (int i = 0; i < parameters.length; i++) {
            statement.setObject(i + 1, parameters[i]);
        }
        return statement;
    }
}
