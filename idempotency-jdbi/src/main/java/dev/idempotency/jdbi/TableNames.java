package dev.idempotency.jdbi;

import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * How the tables of one installation are called: their own names, behind a prefix, in a schema. Every statement of the
 * stores takes its table names from here.
 *
 * @param schema the schema, or the empty string for the connection's own
 * @param prefix what all names begin with, or the empty string
 */
record TableNames(String schema, String prefix) {
    private static final Pattern SIMPLE = Pattern.compile("[a-z_][a-z0-9_]{0,31}");

    private static final Pattern NAMES = Pattern.compile(SchemaSubject.tableNames().stream()
            .sorted(Comparator.comparing(String::length).reversed())
            .collect(Collectors.joining("|", "\\b(", ")(_\\w+)?\\b")));

    /**
     * Checks the names.
     *
     * @throws IllegalArgumentException if one is no plain lower-case identifier of at most 32 characters; plain names
     *     need no quoting and mean the same in every dialect
     */
    TableNames {
        check("schema", schema);
        check("prefix", prefix);
    }

    /** The plain names, found through the connection's own schema. */
    static TableNames ofDefaults() {
        return new TableNames("", "");
    }

    /** Returns the name to use in a statement for a table of this module. */
    String table(String name) {
        List<String> known = SchemaSubject.tableNames();
        if (!known.contains(name)) {
            throw new IllegalArgumentException("There is no table " + name + " in " + known);
        }
        return schema.isEmpty() ? prefix + name : schema + "." + prefix + name;
    }

    /** Returns the name of an index or constraint, which is called after its table and lies in the table's schema. */
    String part(String name) {
        return prefix + name;
    }

    /**
     * Returns a schema file's text with this installation's names in place of the plain ones. Indexes and constraints
     * are called after their table and get the prefix; the database puts them into the table's schema.
     */
    String rename(String script) {
        return NAMES.matcher(script)
                .replaceAll(match -> Matcher.quoteReplacement(
                        match.group(2) == null ? table(match.group(1)) : prefix + match.group()));
    }

    private static void check(String option, String value) {
        Objects.requireNonNull(value, option);
        if (!value.isEmpty() && !SIMPLE.matcher(value).matches()) {
            throw new IllegalArgumentException("The " + option + " must be a plain name of up to 32 lower-case letters,"
                    + " digits and underscores, but is \"" + value + "\"");
        }
    }
}
