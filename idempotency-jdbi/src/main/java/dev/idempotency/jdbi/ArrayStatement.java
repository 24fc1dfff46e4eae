package dev.idempotency.jdbi;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A statement whose arrays are written out, one parameter per element, for a database without arrays.
 *
 * @param sql the statement
 * @param parameters what to bind, in the order of its parameters
 */
record ArrayStatement(String sql, List<Parameter> parameters) {
    /** The statements of this module have no question mark but as a parameter. */
    private static final Pattern PARAMETER = Pattern.compile(
            "= ANY\\(\\?\\)|UNNEST\\(\\?, \\?\\) AS (?<table>\\w+) \\((?<first>\\w+), (?<second>\\w+)\\)|\\?");

    /**
     * A parameter of the statement that was written out.
     *
     * @param index the parameter it comes from, counted from 1
     * @param isElement whether it is an element of an array
     * @param element the element
     */
    record Parameter(int index, boolean isElement, @Nullable Object element) {}

    /** Tells whether a statement takes arrays. */
    static boolean hasArrays(String sql) {
        return sql.contains("= ANY(?)") || sql.contains("UNNEST(?, ?)");
    }

    /**
     * Writes a statement out.
     *
     * @param arrays the elements of each parameter that is an array
     */
    static ArrayStatement write(String sql, Map<Integer, Object[]> arrays) {
        StringBuilder text = new StringBuilder();
        List<Parameter> parameters = new ArrayList<>();
        Matcher matcher = PARAMETER.matcher(sql);
        int next = 1;
        while (matcher.find()) {
            if (matcher.group().equals("?")) {
                parameters.add(new Parameter(next, false, null));
                matcher.appendReplacement(text, "?");
                next++;
            } else if (matcher.group("table") == null) {
                Object[] elements = elements(arrays, next);
                for (Object element : elements) {
                    parameters.add(new Parameter(next, true, element));
                }
                matcher.appendReplacement(text, in(elements.length));
                next++;
            } else {
                Object[] first = elements(arrays, next);
                Object[] second = elements(arrays, next + 1);
                for (int row = 0; row < first.length; row++) {
                    parameters.add(new Parameter(next, true, first[row]));
                    parameters.add(new Parameter(next + 1, true, second[row]));
                }
                matcher.appendReplacement(
                        text,
                        table(first.length, matcher.group("table"), matcher.group("first"), matcher.group("second")));
                next += 2;
            }
        }
        matcher.appendTail(text);
        return new ArrayStatement(text.toString(), parameters);
    }

    private static Object[] elements(Map<Integer, Object[]> arrays, int index) {
        Object[] elements = arrays.get(index);
        if (elements == null) {
            throw new IllegalStateException("The parameter " + index + " must be an array");
        }
        return elements;
    }

    /** No value is in an empty list, and NULL is not in it either. */
    private static String in(int length) {
        return length == 0
                ? "IN (SELECT NULL FROM DUAL WHERE 1 = 0)"
                : "IN (" + String.join(", ", Collections.nCopies(length, "?")) + ")";
    }

    private static String table(int length, String name, String first, String second) {
        if (length == 0) {
            return "(SELECT NULL AS %s, NULL AS %s FROM DUAL WHERE 1 = 0) AS %s".formatted(first, second, name);
        }
        StringBuilder rows = new StringBuilder("(SELECT ? AS %s, ? AS %s".formatted(first, second));
        for (int row = 1; row < length; row++) {
            rows.append(" UNION ALL SELECT ?, ?");
        }
        return rows.append(") AS ").append(name).toString();
    }
}
