package dev.idempotency.benchmarks.jvm;

import dev.idempotency.benchmarks.harness.Contest;
import dev.idempotency.benchmarks.harness.Figure;
import dev.idempotency.benchmarks.harness.Form;
import dev.idempotency.benchmarks.harness.Harness;
import dev.idempotency.benchmarks.harness.Metric;
import dev.idempotency.benchmarks.harness.Sample;
import dev.idempotency.benchmarks.harness.Settings;
import dev.idempotency.benchmarks.harness.Suite;
import dev.idempotency.benchmarks.harness.Target;
import dev.idempotency.servlet.KeyParsing;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** The parts without a database, by JMH: each run is a virtual machine of its own. */
public final class JvmSuite implements Suite {
    private static final Metric CALL = new Metric(Metric.RATE, "calls/ms");
    private static final Metric MENTIONS = new Metric(Metric.RATE, "classes");
    private static final Metric CLASSES = new Metric("all of them", "classes");
    private static final String CRASH_POINTS = "crash points";
    private static final String TESTKIT = "dev/idempotency/testkit";

    @Override
    public String name() {
        return "jvm";
    }

    @Override
    public void run(Harness harness) throws Exception {
        Settings settings = harness.settings();
        harness.run(contest(
                "key of a request",
                settings,
                KeyParsing.class,
                "byHand",
                "UUID.fromString",
                List.of("quotedKey", "plainKey")));
        harness.run(contest(
                "fingerprint of 1 KiB",
                settings,
                Fingerprints.class,
                "byHand",
                "SHA-256 of the body",
                List.of("fingerprint")));
        harness.run(contest(
                "shutdown gate, in and out",
                settings,
                ShutdownGate.class,
                "byHand",
                "a counter up and down",
                List.of("gate")));
        harness.run(contest(
                "row read from H2 in memory",
                settings,
                Guards.class,
                "bareConnection",
                "bare connection",
                List.of("guardedConnection")));
        // A crash point is a wrapper of the testkit around the store or the driver. What is not compiled into the
        // published classes costs them nothing.
        harness.run(new Contest(
                CRASH_POINTS,
                List.of(new Form("published classes that know the testkit", () -> {
                    ProductionClasses.Mentions mentions = ProductionClasses.of(TESTKIT);
                    return Sample.of(MENTIONS, mentions.mentioning()).and(CLASSES, mentions.classes());
                })),
                List.of(
                        Figure.alone("published classes that know the testkit", MENTIONS)
                                .target(Target.valueAtMost(0)),
                        Figure.alone("published classes that know the testkit", CLASSES))));
    }

    private static Contest contest(
            String name, Settings settings, Class<?> type, String baseline, String baselineName, List<String> others) {
        List<Form> forms = new ArrayList<>();
        forms.add(form(baselineName, settings, type, baseline));
        others.forEach(other -> forms.add(form(other, settings, type, other)));
        return new Contest(
                name,
                forms,
                others.stream()
                        .map(other -> Figure.against(other, baselineName, CALL))
                        .toList());
    }

    private static Form form(String name, Settings settings, Class<?> type, String method) {
        // JMH's own start takes longer than a short iteration; more than a second of each tells nothing new.
        TimeValue length =
                TimeValue.milliseconds(Math.min(1_000, settings.length().toMillis()));
        Options options = new OptionsBuilder()
                .include(type.getName().replace(".", "\\.") + "\\." + method + "$")
                .mode(Mode.Throughput)
                .timeUnit(TimeUnit.MILLISECONDS)
                .forks(1)
                .jvmArgs("-Xms256m", "-Xmx256m")
                .warmupIterations(settings.size(3, 1))
                .warmupTime(length)
                .measurementIterations(settings.size(3, 1))
                .measurementTime(length)
                .verbosity(VerboseMode.SILENT)
                .shouldFailOnError(true)
                .build();
        return new Form(name, () -> {
            Collection<RunResult> results = new Runner(options).run();
            if (results.size() != 1) {
                throw new IllegalStateException(
                        "One benchmark was to run as " + type + "." + method + ", but " + results.size() + " did");
            }
            return Sample.of(CALL, results.iterator().next().getPrimaryResult().getScore());
        });
    }
}
