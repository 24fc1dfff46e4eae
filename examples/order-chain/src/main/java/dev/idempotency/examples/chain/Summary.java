package dev.idempotency.examples.chain;

import dev.idempotency.examples.chain.Timeline.Outcome;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The figures as rows of a table, in the order in which they are shown. */
final class Summary {
    private Summary() {}

    static Map<String, String> rows(Result result) {
        Figures figures = result.figures();
        Map<String, String> rows = new LinkedHashMap<>();
        rows.put("requests sent", Integer.toString(result.attempts().size()));
        rows.put("  retried", Long.toString(result.retried()));
        rows.put("  replayed", Long.toString(result.count(Outcome.REPLAYED)));
        rows.put("  refused 409", Long.toString(result.count(Outcome.REFUSED)));
        rows.put("  timed out", Long.toString(result.count(Outcome.TIMED_OUT)));
        rows.put("  no connection", Long.toString(result.count(Outcome.DISCONNECTED)));
        rows.put("  other status", Long.toString(result.count(Outcome.UNAVAILABLE)));
        rows.put("intents", Integer.toString(figures.intents()));
        rows.put("orders", Integer.toString(figures.orders()));
        rows.put("events", result.events() + " (in " + result.messages() + " messages)");
        rows.put("charges", figures.charges() + " (in " + result.calls().size() + " calls)");
        rows.put("invoices", Integer.toString(figures.invoices()));
        rows.put("duplicates", Integer.toString(figures.duplicates()));
        rows.put("losses", Integer.toString(figures.lost()));
        rows.put("kills", Integer.toString(result.kills().size()));
        if (result.options() instanceof SoakOptions) {
            result.faults().forEach((fault, count) -> rows.put("  " + fault.label(), Integer.toString(count)));
            rows.put("crashes", result.crashes() + " (ended by themselves)");
        }
        rows.put("SIGTERM to exit", stopTimes(result));
        return rows;
    }

    static String table(Result result) {
        StringBuilder table = new StringBuilder();
        rows(result).forEach((name, value) -> table.append(String.format("%-17s %s%n", name, value)));
        return table.toString();
    }

    private static String stopTimes(Result result) {
        List<Long> millis = result.stopMillis();
        if (millis.isEmpty()) {
            return "none was sent";
        }
        return "median " + millis.get(millis.size() / 2) + " ms, longest " + millis.get(millis.size() - 1)
                + " ms, grace " + result.grace().toSeconds() + " s";
    }
}
