package dev.idempotency.benchmarks.harness;

import java.util.List;
import java.util.Locale;

/** A page that needs nothing beside itself: what was measured on what, a table, and a pair of bars for each row. */
final class HtmlPage {
    private static final int BAR_WIDTH = 420;
    private static final int BAR_HEIGHT = 16;

    private HtmlPage() {}

    static String of(String suite, List<Row> rows, Machine machine) {
        StringBuilder page = new StringBuilder("""
                <!DOCTYPE html>
                <html lang="en">
                <head>
                <meta charset="utf-8">
                <title>Benchmarks: SUITE</title>
                <style>
                body { font: 15px sans-serif; margin: 2em; color: #222; }
                table { border-collapse: collapse; }
                th, td { border: 1px solid #ccc; padding: 4px 8px; text-align: left; vertical-align: top; }
                td.number { text-align: right; font-variant-numeric: tabular-nums; }
                .missed { color: #a00; font-weight: bold; }
                svg text { font: 12px sans-serif; }
                </style>
                </head>
                <body>
                <h1>Benchmarks: SUITE</h1>
                <p>Each value is the median of its runs, which were taken in turn with those of its baseline; the thin line
                is the range from the least to the greatest. Blue: the form in question. Grey: its baseline.</p>
                <table>
                """.replace("SUITE", escape(suite)));
        machine.facts()
                .forEach((name, value) -> page.append("<tr><th>")
                        .append(escape(name))
                        .append("</th><td>")
                        .append(escape(value))
                        .append("</td></tr>\n"));
        page.append("</table>\n<h2>Figures</h2>\n<table>\n<tr><th>case, against its baseline</th><th>runs</th>"
                + "<th>ratio</th><th>target</th><th>met</th></tr>\n");
        rows.forEach(row -> page.append(row(row)));
        return page.append("</table>\n</body>\n</html>\n").toString();
    }

    private static String row(Row row) {
        List<String> cells = Reports.cells(row);
        String baseline = row.comparison() == null ? "" : " <small>against " + escape(cells.get(1)) + "</small>";
        boolean missed = Boolean.FALSE.equals(row.met());
        return "<tr><td>" + escape(row.name()) + baseline + "<br>" + bars(row) + "</td><td class=\"number\">"
                + row.runs()
                + "</td><td class=\"number\">" + cells.get(7) + "<br><small>" + cells.get(8) + "</small></td><td>"
                + escape(cells.get(9)) + "</td><td" + (missed ? " class=\"missed\"" : "") + ">" + cells.get(10)
                + "</td></tr>\n";
    }

    private static String bars(Row row) {
        Row.Comparison comparison = row.comparison();
        double scale = Math.max(
                row.value().greatest(),
                comparison == null ? 0 : comparison.value().greatest());
        if (!(scale > 0)) {
            return "<b>" + Reports.number(row.value().median()) + "</b> " + escape(row.unit());
        }
        int lines = comparison == null ? 1 : 2;
        return String.format(
                        Locale.ROOT,
                        "<svg width=\"%d\" height=\"%d\" role=\"img\">",
                        BAR_WIDTH + 220,
                        lines * (BAR_HEIGHT + 4))
                + bar(0, row.value(), scale, "#3b6fb6", row.unit())
                + (comparison == null ? "" : bar(1, comparison.value(), scale, "#999", row.unit()))
                + "</svg>";
    }

    private static String bar(int line, Spread spread, double scale, String color, String unit) {
        int top = line * (BAR_HEIGHT + 4);
        int middle = top + BAR_HEIGHT / 2;
        double unitWidth = BAR_WIDTH / scale;
        return String.format(
                Locale.ROOT,
                "<rect x=\"0\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>"
                        + "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#111\" stroke-width=\"2\"/>"
                        + "<text x=\"%d\" y=\"%d\">%s %s</text>",
                top,
                spread.median() * unitWidth,
                BAR_HEIGHT,
                color,
                spread.least() * unitWidth,
                middle,
                spread.greatest() * unitWidth,
                middle,
                BAR_WIDTH + 8,
                top + BAR_HEIGHT - 4,
                Reports.number(spread.median()),
                escape(unit));
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
