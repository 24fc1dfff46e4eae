package dev.idempotency.examples.chain;

import com.samskivert.mustache.Mustache;
import dev.idempotency.examples.chain.Timeline.Attempt;
import dev.idempotency.examples.chain.Timeline.Call;
import dev.idempotency.examples.chain.Timeline.Incident;
import dev.idempotency.examples.chain.Timeline.Kill;
import dev.idempotency.examples.chain.Timeline.Run;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

/**
 * One page without anything beside it: the figures, and what happened when, drawn to scale.
 *
 * <p>All text stands in the template; here is only the arithmetic of the drawing.
 */
final class HtmlReport {
    private static final int LEFT = 130;
    private static final int RIGHT = 20;
    private static final int LANE = 20;
    private static final int TOP = 30;
    private static final int PIXELS_PER_SECOND = 60;
    private static final int LEAST_WIDTH = 1100;
    private static final List<ServiceName> SERVICES = List.of(ServiceName.values());

    private final Result result;
    private final long start;
    private final long end;
    private final int width;

    private HtmlReport(Result result) {
        this.result = result;
        // From the second in which the first service was up: before that, database and broker are being started.
        this.start = result.runs().stream().mapToLong(Run::from).min().orElse(0) / 1000 * 1000;
        this.end = Math.max(start + 1000, result.took().toMillis());
        this.width = Math.max(LEAST_WIDTH, (int) ((end - start) * PIXELS_PER_SECOND / 1000));
    }

    static void write(Result result, Path file) throws IOException {
        try (InputStream input = HtmlReport.class.getResourceAsStream("/report.mustache.html")) {
            if (input == null) {
                throw new IllegalStateException("The template of the report is not on the class path");
            }
            Reader template = new InputStreamReader(input, StandardCharsets.UTF_8);
            Files.writeString(
                    file,
                    Mustache.compiler().escapeHTML(true).compile(template).execute(new HtmlReport(result).page()));
        }
    }

    private record Row(String name, String value) {}

    private record Lane(String name, int y, int middle) {}

    private record Box(String x, int y, String width, int height, String kind, String title) {}

    private record Tick(String x, String label) {}

    private record KillRow(String at, String kind, String what, String took) {}

    private Map<String, Object> page() {
        List<Lane> lanes = lanes();
        int height = TOP + lanes.size() * LANE + LANE;
        Map<String, Object> page = new LinkedHashMap<>();
        page.put("good", result.good());
        page.put("words", result.options().words());
        page.put("command", result.options().command());
        page.put("guard", result.options().guard());
        page.put("guarded", result.options().guarded());
        page.put("line", result.line());
        page.put("figures", figures());
        page.put("defects", result.defects().stream().limit(200).toList());
        page.put("width", LEFT + width + RIGHT);
        page.put("height", height);
        page.put("lanes", lanes);
        page.put("laneStart", LEFT);
        page.put("laneEnd", LEFT + width);
        page.put("ticks", ticks());
        page.put("top", TOP);
        page.put("bottom", height - LANE);
        page.put("runs", runs());
        page.put("kills", kills());
        page.put("attempts", attempts());
        page.put("calls", calls());
        page.put("killRows", killRows());
        return page;
    }

    private List<Row> figures() {
        List<Row> rows = new ArrayList<>();
        Summary.rows(result).forEach((name, value) -> rows.add(new Row(name, value)));
        return rows;
    }

    private List<Lane> lanes() {
        List<String> names = new ArrayList<>();
        for (ServiceName service : SERVICES) {
            names.add(service.label());
        }
        for (int client = 1; client <= result.options().clients(); client++) {
            names.add("client " + client);
        }
        names.add("charges");
        List<Lane> lanes = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            lanes.add(new Lane(names.get(i), TOP + i * LANE, TOP + i * LANE + LANE / 2));
        }
        return lanes;
    }

    private static int serviceLane(ServiceName service) {
        return TOP + SERVICES.indexOf(service) * LANE;
    }

    private static int clientLane(int client) {
        return TOP + (SERVICES.size() + client - 1) * LANE;
    }

    private int chargeLane() {
        return clientLane(result.options().clients() + 1);
    }

    private List<Tick> ticks() {
        List<Tick> ticks = new ArrayList<>();
        for (long second = start / 1000; second * 1000 <= end; second++) {
            ticks.add(new Tick(x(second * 1000), second + " s"));
        }
        return ticks;
    }

    private List<Box> runs() {
        List<Box> boxes = new ArrayList<>();
        for (Run run : result.runs()) {
            String title = run.service().label() + " up from " + seconds(run.from()) + " to " + seconds(run.to());
            boxes.add(box(serviceLane(run.service()) + 4, run.from(), run.to(), LANE - 8, "up", title));
        }
        return boxes;
    }

    private List<Box> kills() {
        List<Box> boxes = new ArrayList<>();
        for (Kill kill : result.kills()) {
            String title = kill.signal() + " to the " + kill.service().label() + " at " + seconds(kill.at())
                    + ", gone after " + (kill.gone() - kill.at()) + " ms";
            String kind = kill.signal().name().toLowerCase(Locale.ROOT);
            boxes.add(box(serviceLane(kill.service()) + 1, kill.at(), kill.gone(), LANE - 2, kind, title));
        }
        return boxes;
    }

    private List<Box> attempts() {
        List<Box> boxes = new ArrayList<>();
        for (Attempt attempt : sorted(result.attempts())) {
            // A twin is drawn as the lower half of its client's lane.
            int y = clientLane(attempt.client()) + (attempt.twin() ? LANE / 2 + 1 : 2);
            int height = attempt.intent().twice() ? LANE / 2 - 2 : LANE - 4;
            String title = attempt.intent().name() + (attempt.twin() ? " (sent twice at once)" : "") + ", request "
                    + attempt.number() + ": " + words(attempt.outcome()) + " after "
                    + (attempt.to() - attempt.from()) + " ms, at " + seconds(attempt.from());
            String kind = attempt.outcome().name().toLowerCase(Locale.ROOT);
            boxes.add(box(y, attempt.from(), attempt.to(), height, kind, title));
        }
        return boxes;
    }

    private static List<Attempt> sorted(List<Attempt> attempts) {
        return attempts.stream().sorted(Comparator.comparingLong(Attempt::from)).toList();
    }

    private List<Box> calls() {
        Set<UUID> charged = new HashSet<>();
        List<Box> boxes = new ArrayList<>();
        for (Call call : result.calls()) {
            boolean again = call.fresh() && !charged.add(call.orderId());
            String kind = again ? "double" : call.fresh() ? "charge" : "known";
            String what = again ? "charged AGAIN" : call.fresh() ? "charged" : "key known, nothing charged";
            String title = "order " + call.orderId() + ": " + what + (call.answerDropped() ? ", answer dropped" : "")
                    + ", at " + seconds(call.at());
            int height = call.answerDropped() ? LANE / 2 : LANE - 4;
            boxes.add(box(chargeLane() + 2, call.at(), call.at(), height, kind, title));
        }
        return boxes;
    }

    /** What was done to the chain, in the order in which it began. */
    private List<KillRow> killRows() {
        Map<Long, List<KillRow>> rows = new TreeMap<>();
        for (Kill kill : result.kills()) {
            KillRow row = new KillRow(
                    seconds(kill.at()), kill.signal().name(), kill.service().label(), kill.took() + " ms");
            rows.computeIfAbsent(kill.at(), at -> new ArrayList<>()).add(row);
        }
        for (Incident incident : result.incidents()) {
            KillRow row = new KillRow(
                    seconds(incident.from()),
                    incident.fault().name(),
                    incident.what(),
                    incident.to() - incident.from() + " ms");
            rows.computeIfAbsent(incident.from(), at -> new ArrayList<>()).add(row);
        }
        return rows.values().stream().flatMap(List::stream).toList();
    }

    private static String words(Timeline.Outcome outcome) {
        return switch (outcome) {
            case PLACED -> "201, order placed";
            case REPLAYED -> "201, first answer replayed";
            case REFUSED -> "409, still in progress";
            case UNAVAILABLE -> "other status";
            case TIMED_OUT -> "client timed out";
            case DISCONNECTED -> "no connection";
        };
    }

    private Box box(int y, long from, long to, int height, String kind, String title) {
        double pixels = Math.max(2.0, (to - from) * scale());
        return new Box(x(from), y, String.format(Locale.ROOT, "%.1f", pixels), height, kind, title);
    }

    private String x(long millis) {
        return String.format(Locale.ROOT, "%.1f", LEFT + (millis - start) * scale());
    }

    private double scale() {
        return (double) width / (end - start);
    }

    private static String seconds(long millis) {
        return String.format(Locale.ROOT, "%.2f s", millis / 1000.0);
    }
}
