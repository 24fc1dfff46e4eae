package dev.idempotency.jdbi;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Reads the schema files, which lie in this module's jar. */
final class SchemaFiles {
    private SchemaFiles() {}

    /** Returns a file's text in the names of an installation. */
    static String read(SqlDialect dialect, String file, TableNames names) {
        String resource = "schema/" + dialect.folder() + "/" + file;
        try (InputStream in = SchemaFiles.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException("The jar of this module has no resource " + resource);
            }
            return names.rename(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException("The resource " + resource + " could not be read", e);
        }
    }

    /** Returns the statements of a text, without comments and closing semicolons. */
    static List<String> statements(String script) {
        List<String> statements = new ArrayList<>();
        StringBuilder statement = new StringBuilder();
        for (String line : script.split("\n", -1)) {
            if (line.isBlank() || line.strip().startsWith("--")) {
                continue;
            }
            String text = line.stripTrailing();
            if (text.endsWith(";")) {
                statement.append(text, 0, text.length() - 1);
                statements.add(statement.toString());
                statement.setLength(0);
            } else {
                statement.append(text).append('\n');
            }
        }
        if (!statement.isEmpty()) {
            throw new IllegalStateException("A schema file ends within a statement: " + statement);
        }
        return statements;
    }
}
