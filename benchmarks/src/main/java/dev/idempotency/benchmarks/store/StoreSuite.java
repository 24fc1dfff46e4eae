package dev.idempotency.benchmarks.store;

import dev.idempotency.benchmarks.database.BenchDatabase;
import dev.idempotency.benchmarks.database.BenchServer;
import dev.idempotency.benchmarks.harness.Contest;
import dev.idempotency.benchmarks.harness.Figure;
import dev.idempotency.benchmarks.harness.Form;
import dev.idempotency.benchmarks.harness.Harness;
import dev.idempotency.benchmarks.harness.Load;
import dev.idempotency.benchmarks.harness.Metric;
import dev.idempotency.benchmarks.harness.Sample;
import dev.idempotency.benchmarks.harness.Settings;
import dev.idempotency.benchmarks.harness.Suite;
import dev.idempotency.benchmarks.harness.Target;
import java.util.List;
import java.util.stream.Stream;

/** The cost of operations and marks, against the same transactions without them, and how it grows with the tables. */
public final class StoreSuite implements Suite {
    private static final Metric OPERATIONS = Metric.rate("operations");
    private static final Metric IDS = Metric.rate("ids");
    private static final Metric EVENTS = Metric.rate("events");

    @Override
    public String name() {
        return "store";
    }

    @Override
    public void run(Harness harness) throws Exception {
        try (BenchServer server = BenchServer.start(harness)) {
            try (BenchDatabase database = server.createDatabase()) {
                operations(harness, database);
                marks(harness, database);
            }
            if (Stream.of("fresh claims", "replays", "marks").anyMatch(what -> harness.wants(growth(what)))) {
                growth(harness, server);
            }
        }
    }

    private static void operations(Harness harness, BenchDatabase database) throws Exception {
        Settings settings = harness.settings();
        try (OperationForms forms = new OperationForms(database)) {
            harness.run(new Contest(
                    "operation",
                    List.of(
                            clients("bare transaction", settings, forms::bare),
                            clients("TRANSACTIONAL", settings, forms::transactional),
                            clients("naive guard", settings, forms::naive),
                            clients("LEASED", settings, forms::leased)),
                    List.of(
                            Figure.against("TRANSACTIONAL", "bare transaction", OPERATIONS),
                            Figure.against("naive guard", "bare transaction", OPERATIONS),
                            Figure.against("LEASED", "bare transaction", OPERATIONS),
                            Figure.against("TRANSACTIONAL", "naive guard", OPERATIONS))));
            harness.run(new Contest(
                    "repeat",
                    List.of(
                            clients("look-up by hand", settings, forms::lookUp),
                            clients("replay", settings, forms::replay)),
                    List.of(Figure.against("replay", "look-up by hand", OPERATIONS))));
        }
    }

    private static void marks(Harness harness, BenchDatabase database) throws Exception {
        Settings settings = harness.settings();
        MarkForms forms = new MarkForms(database);
        harness.run(new Contest(
                "marks, 500 in a transaction",
                List.of(
                        batches("one insert by hand", settings, IDS, forms::byHand),
                        batches("fresh", settings, IDS, forms::fresh),
                        batches("nothing but duplicates", settings, IDS, forms::duplicates)),
                List.of(
                        Figure.against("fresh", "one insert by hand", IDS),
                        Figure.against("nothing but duplicates", "fresh", IDS).target(Target.ratioAtLeast(5)))));
        harness.run(new Contest(
                "events row by row, 500 in a transaction",
                List.of(
                        batches("without marks", settings, EVENTS, forms::effectsAlone),
                        batches("marked at once", settings, EVENTS, forms::effectsMarkedAtOnce),
                        batches("marked one by one by hand", settings, EVENTS, forms::effectsMarkedOneByOne)),
                List.of(
                        Figure.against("marked at once", "without marks", EVENTS),
                        Figure.against("marked one by one by hand", "without marks", EVENTS))));
    }

    private static void growth(Harness harness, BenchServer server) throws Exception {
        Settings settings = harness.settings();
        try (GrownTables few = new GrownTables(server, Settings.FEW_ROWS, true);
                GrownTables many = new GrownTables(server, settings.rows(), false)) {
            harness.run(growthContest("fresh claims", OPERATIONS, few, many, tables -> {
                tables.prepareRecords();
                return Load.perSecond(settings, tables.operations()::transactional);
            }));
            harness.run(growthContest("replays", OPERATIONS, few, many, tables -> {
                tables.prepareRecords();
                return Load.perSecond(settings, tables::replay);
            }));
            harness.run(growthContest("marks", IDS, few, many, tables -> {
                tables.prepareMarks();
                return MarkForms.BATCH * Load.perSecond(1, settings.length(), tables.marks()::fresh);
            }));
        }
    }

    private static String growth(String what) {
        return "growth of the table, " + what;
    }

    private static Contest growthContest(
            String what, Metric metric, GrownTables few, GrownTables many, Measurement measurement) {
        String small = few.rows() + " rows";
        String large = many.rows() + " rows";
        return new Contest(
                growth(what),
                List.of(
                        new Form(small, () -> Sample.of(metric, measurement.of(few))),
                        new Form(large, () -> Sample.of(metric, measurement.of(many)))),
                List.of(Figure.against(large, small, metric).target(Target.ratioAtLeast(0.9))));
    }

    private static Form clients(String name, Settings settings, Load.Step step) {
        return new Form(name, () -> Sample.of(OPERATIONS, Load.perSecond(settings, step)));
    }

    /** One client, because a partition has one consumer. */
    private static Form batches(String name, Settings settings, Metric metric, Load.Step step) {
        return new Form(name, () -> Sample.of(metric, MarkForms.BATCH * Load.perSecond(1, settings.length(), step)));
    }

    @FunctionalInterface
    private interface Measurement {
        double of(GrownTables tables) throws Exception;
    }
}
