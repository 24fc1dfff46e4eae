package dev.idempotency.jdbi;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Tells which statements of the schema files have nothing left to do, without running them: {@code IF NOT EXISTS} looks
 * only after it has locked the table, and then an instance that starts waits for the longest transaction, and everybody
 * who writes waits for that instance.
 */
final class InstalledParts {
    private static final Pattern INDEX =
            Pattern.compile("CREATE INDEX IF NOT EXISTS\\s+(\\S+)\\s+ON\\s+(\\S+)\\s.*", Pattern.DOTALL);
    private static final Pattern COLUMN =
            Pattern.compile("ALTER TABLE\\s+(\\S+)\\s+ADD COLUMN IF NOT EXISTS\\s+(\\S+)\\s[^,]*", Pattern.DOTALL);

    private final Connection connection;
    private final SchemaSql sql;

    InstalledParts(Connection connection, SchemaSql sql) {
        this.connection = connection;
        this.sql = sql;
    }

    /** Whether what the statement makes is there; false where only running it can tell. */
    boolean contain(String ddl) throws SQLException {
        Matcher index = INDEX.matcher(ddl);
        if (index.matches()) {
            return holds(sql.hasIndex(), index.group(2), index.group(1));
        }
        Matcher column = COLUMN.matcher(ddl);
        return column.matches() && holds(sql.hasColumn(), column.group(1), column.group(2));
    }

    private boolean holds(String question, String table, String part) throws SQLException {
        if (question.isEmpty()) {
            return false;
        }
        try (PreparedStatement statement = connection.prepareStatement(question)) {
            statement.setString(1, table);
            statement.setString(2, part);
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next();
            }
        }
    }
}
