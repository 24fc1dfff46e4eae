package dev.idempotency.benchmarks.harness;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The forms in which rows are told: a table for people, JSON for programs, a page with plots. */
public final class Reports {
    private static final List<String> HEADINGS = List.of(
            "case", "baseline", "unit", "value", "range", "baseline", "range", "ratio", "range", "target", "met");

    private Reports() {}

    /**
     * Writes {@code SUITE.json} and {@code SUITE.html}.
     *
     * @param folder where to; made if it does not exist
     * @param suite the suite
     * @param rows what it measured
     * @param machine on what
     * @throws IOException if a file cannot be written
     */
    public static void write(Path folder, String suite, List<Row> rows, Machine machine) throws IOException {
        Files.createDirectories(folder);
        Files.writeString(folder.resolve(suite + ".json"), json(rows, machine));
        Files.writeString(folder.resolve(suite + ".html"), HtmlPage.of(suite, rows, machine));
    }

    /**
     * Returns the table for standard output.
     *
     * @param suite the suite
     * @param rows what it measured
     * @param machine on what
     * @return lines, the last of them with the number of missed targets
     */
    public static String table(String suite, List<Row> rows, Machine machine) {
        StringBuilder text = new StringBuilder(System.lineSeparator());
        machine.facts()
                .forEach((name, value) ->
                        text.append(name).append(": ").append(value).append(System.lineSeparator()));
        text.append(System.lineSeparator());
        List<List<String>> lines = new ArrayList<>();
        lines.add(HEADINGS);
        rows.forEach(row -> lines.add(cells(row)));
        int[] widths = new int[HEADINGS.size()];
        lines.forEach(line -> {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], line.get(i).length());
            }
        });
        for (List<String> line : lines) {
            StringBuilder joined = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                // Names to the left, numbers to the right.
                String format = i < 3 || i > 8 ? "%-" + widths[i] + "s  " : "%" + widths[i] + "s  ";
                joined.append(String.format(Locale.ROOT, format, line.get(i)));
            }
            text.append(joined.toString().stripTrailing()).append(System.lineSeparator());
        }
        long targets = rows.stream().filter(row -> row.target() != null).count();
        long missed =
                rows.stream().filter(row -> Boolean.FALSE.equals(row.met())).count();
        return text.append(System.lineSeparator())
                .append("RESULT suite=" + suite + " figures=" + rows.size() + " targets=" + targets + " missed="
                        + missed)
                .append(System.lineSeparator())
                .toString();
    }

    static List<String> cells(Row row) {
        Row.Comparison comparison = row.comparison();
        Boolean met = row.met();
        return List.of(
                row.name(),
                comparison == null ? "" : comparison.baseline(),
                row.unit(),
                number(row.value().median()),
                range(row.value()),
                comparison == null ? "" : number(comparison.value().median()),
                comparison == null ? "" : range(comparison.value()),
                comparison == null ? "" : number(comparison.ratio()),
                comparison == null ? "" : range(comparison.ratios()),
                row.target() == null ? "" : row.target().toString(),
                met == null ? "" : met ? "yes" : "MISSED");
    }

    private static String range(Spread spread) {
        return number(spread.least()) + ".." + number(spread.greatest());
    }

    static String number(double value) {
        double size = Math.abs(value);
        return String.format(Locale.ROOT, size >= 1000 ? "%.0f" : size >= 10 ? "%.1f" : "%.3f", value);
    }

    static String json(List<Row> rows, Machine machine) throws IOException {
        return new ObjectMapper()
                        .enable(SerializationFeature.INDENT_OUTPUT)
                        .writeValueAsString(
                                rows.stream().map(row -> object(row, machine)).toList())
                + System.lineSeparator();
    }

    private static Map<String, @Nullable Object> object(Row row, Machine machine) {
        Row.Comparison comparison = row.comparison();
        Target target = row.target();
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        object.put("suite", row.suite());
        object.put("case", row.name());
        object.put("baseline", comparison == null ? null : comparison.baseline());
        object.put("unit", row.unit());
        object.put("value", row.value().median());
        object.put(
                "baselineValue", comparison == null ? null : comparison.value().median());
        object.put("ratio", comparison == null ? null : comparison.ratio());
        object.put("target", target == null ? null : target.bound());
        object.put("targetIs", target == null ? null : target.kind().text());
        object.put("met", row.met());
        object.put("runs", row.runs());
        object.put("range", List.of(row.value().least(), row.value().greatest()));
        object.put(
                "baselineRange",
                comparison == null
                        ? null
                        : List.of(comparison.value().least(), comparison.value().greatest()));
        object.put(
                "ratioRange",
                comparison == null
                        ? null
                        : List.of(
                                comparison.ratios().least(), comparison.ratios().greatest()));
        object.put("machine", machine.facts());
        return object;
    }
}
