package dev.idempotency.jdbi;

import dev.idempotency.SchemaException;
import dev.idempotency.jdbi.SchemaSubject.RequiredTable;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** Looks, when a store is built, whether its tables are as its statements and its guarantees need them. */
final class SchemaCheck {
    private final Connection connection;
    private final SqlDialect dialect;
    private final TableNames names;
    private final SchemaSql sql;

    private SchemaCheck(Connection connection, SqlDialect dialect, TableNames names) {
        this.connection = connection;
        this.dialect = dialect;
        this.names = names;
        this.sql = SchemaSql.of(dialect);
    }

    /**
     * Reads the tables of a subject; changes nothing. The connection may be in autocommit.
     *
     * @throws SchemaException if something is missing; the message holds the statements that add it
     * @throws SQLException if the database does not answer or does not allow the look
     */
    static void verify(Connection connection, SqlDialect dialect, TableNames names, SchemaSubject subject)
            throws SQLException {
        new SchemaCheck(connection, dialect, names).verify(subject);
    }

    private void verify(SchemaSubject subject) throws SQLException {
        List<String> findings = new ArrayList<>();
        List<String> cures = new ArrayList<>();
        for (RequiredTable table : subject.tables()) {
            Set<String> columns = columns(table);
            if (columns.isEmpty()) {
                findings.add("there is no table " + names.table(table.name()));
                cures.addAll(statementsAbout(subject, table));
            } else {
                findMissingColumns(subject, table, columns, findings, cures);
                findMissingKeys(table, findings, cures);
            }
        }
        if (!findings.isEmpty()) {
            throw new SchemaException(
                    "The tables of this store were looked up, but " + String.join(", ", findings)
                            + ". Run the files of dev/idempotency/jdbi/schema/" + dialect.folder()
                            + " with your migration tool, call SchemaInstaller, or execute:\n"
                            + String.join(";\n", cures) + ";",
                    null);
        }
    }

    private void findMissingColumns(
            SchemaSubject subject,
            RequiredTable table,
            Set<String> present,
            List<String> findings,
            List<String> cures) {
        for (String column : table.columns()) {
            if (!present.contains(column)) {
                findings.add(names.table(table.name()) + " has no column " + column);
                cures.add("ALTER TABLE " + names.table(table.name()) + " ADD COLUMN "
                        + definition(subject, table, column));
            }
        }
    }

    private void findMissingKeys(RequiredTable table, List<String> findings, List<String> cures) throws SQLException {
        Set<Set<String>> present = uniqueKeys(table);
        for (List<String> key : table.uniqueKeys()) {
            if (!present.contains(Set.copyOf(key))) {
                String columns = "(" + String.join(", ", key) + ")";
                findings.add(names.table(table.name()) + " has no valid unique index over exactly " + columns
                        + ", on which the guarantee rests");
                cures.add("ALTER TABLE " + names.table(table.name()) + " ADD UNIQUE " + columns);
            }
        }
    }

    /** The columns in lower case; none if there is no such table. */
    private Set<String> columns(RequiredTable table) throws SQLException {
        Set<String> columns = new HashSet<>();
        // On PostgreSQL a missing table aborts the transaction, and the next look would fail for that reason alone.
        Savepoint savepoint = connection.getAutoCommit() ? null : connection.setSavepoint();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql.columns(names.table(table.name())))) {
            ResultSetMetaData metaData = rows.getMetaData();
            for (int i = 1; i <= metaData.getColumnCount(); i++) {
                columns.add(metaData.getColumnName(i).toLowerCase(Locale.ROOT));
            }
        } catch (SQLException e) {
            if (!SqlErrors.isMissingTable(e)) {
                throw e;
            }
            if (savepoint != null) {
                connection.rollback(savepoint);
            }
        }
        return columns;
    }

    private Set<Set<String>> uniqueKeys(RequiredTable table) throws SQLException {
        Set<Set<String>> keys = new HashSet<>();
        try (PreparedStatement statement = connection.prepareStatement(sql.uniqueIndexes())) {
            statement.setString(1, names.table(table.name()));
            statement.setString(2, names.schema());
            statement.setString(3, names.prefix() + table.name());
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    keys.add(Set.of(rows.getString(1).split(",", -1)));
                }
            }
        }
        return keys;
    }

    private List<String> statementsAbout(SchemaSubject subject, RequiredTable table) {
        Pattern about = Pattern.compile("\\b" + Pattern.quote(names.table(table.name())) + "\\b");
        return statements(subject).stream()
                .filter(statement -> about.matcher(statement).find())
                .toList();
    }

    private String definition(SchemaSubject subject, RequiredTable table, String column) {
        return statementsAbout(subject, table).stream()
                .flatMap(String::lines)
                .map(String::strip)
                .filter(line -> line.startsWith(column + " "))
                .map(line -> line.endsWith(",") ? line.substring(0, line.length() - 1) : line)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("No schema file defines the column " + column));
    }

    private List<String> statements(SchemaSubject subject) {
        return subject.files().stream()
                .flatMap(file -> SchemaFiles.statements(SchemaFiles.read(dialect, file, names)).stream())
                .toList();
    }
}
