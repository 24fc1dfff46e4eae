package dev.idempotency.benchmarks;

import dev.idempotency.benchmarks.harness.Harness;
import dev.idempotency.benchmarks.harness.Machine;
import dev.idempotency.benchmarks.harness.Reports;
import dev.idempotency.benchmarks.harness.Row;
import dev.idempotency.benchmarks.harness.Suite;
import dev.idempotency.benchmarks.http.HttpSuite;
import dev.idempotency.benchmarks.jvm.JvmSuite;
import dev.idempotency.benchmarks.kafka.KafkaSuite;
import dev.idempotency.benchmarks.outbox.OutboxSuite;
import dev.idempotency.benchmarks.store.StoreSuite;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * Measures what a key, an event and an outbox row cost, against the same work without them.
 *
 * <p>Started by {@code mvn -q -Pbench -Dbench=SUITE}. The exit status is 0 if everything was measured, whether or not
 * the targets were met, 2 for a bad option, 3 if a suite could not run.
 */
public final class Bench {
    private static final int MEASURED = 0;
    private static final int BAD_OPTION = 2;
    private static final int COULD_NOT_RUN = 3;

    private Bench() {}

    /**
     * Runs the suites that the options ask for, and ends the process.
     *
     * @param arguments the folder for the reports, a file with the options, over which system properties win, and a file
     *     that exists at the end if, and only if, the exit status is 0
     * @throws IOException if the options cannot be read or a report cannot be written
     */
    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 3) {
            System.err.println("Three arguments are needed: the folder for the reports, the file with the options, and"
                    + " the file that tells of success");
            System.exit(BAD_OPTION);
        }
        Path good = Path.of(arguments[2]);
        Files.deleteIfExists(good);
        int status = run(Path.of(arguments[0]), options(Path.of(arguments[1])));
        if (status == MEASURED) {
            Files.createFile(good);
        }
        System.exit(status);
    }

    static int run(Path folder, Map<String, String> properties) throws IOException {
        List<Suite> suites = suites();
        BenchOptions options;
        try {
            options = BenchOptions.from(
                    properties, suites.stream().map(Suite::name).toList());
        } catch (InvalidOptionException e) {
            System.err.println(e.getMessage());
            return BAD_OPTION;
        }
        for (Suite suite : suites) {
            if (options.suites().contains(suite.name())) {
                int status = measure(suite, options, folder);
                if (status != MEASURED) {
                    return status;
                }
            }
        }
        return MEASURED;
    }

    private static int measure(Suite suite, BenchOptions options, Path folder) throws IOException {
        Machine machine = Machine.now(options.settings());
        Harness harness = new Harness(suite.name(), options.settings(), machine);
        try {
            suite.run(harness);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            System.err.println(suite.name() + ": interrupted, nothing is reported");
            return COULD_NOT_RUN;
        } catch (Exception e) {
            // The trace, because a benchmark that breaks off is a defect, of the benchmark or of what it measures.
            System.err.println(suite.name() + ": broke off, nothing is reported");
            e.printStackTrace();
            return COULD_NOT_RUN;
        }
        List<Row> rows = harness.rows();
        Reports.write(folder, suite.name(), rows, machine);
        System.out.print(Reports.table(suite.name(), rows, machine));
        return MEASURED;
    }

    private static List<Suite> suites() {
        return List.of(new HttpSuite(), new KafkaSuite(), new OutboxSuite(), new StoreSuite(), new JvmSuite());
    }

    private static Map<String, String> options(Path file) throws IOException {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            properties.load(reader);
        }
        properties.putAll(System.getProperties());
        Map<String, String> options = new HashMap<>();
        properties.stringPropertyNames().forEach(name -> options.put(name, properties.getProperty(name)));
        return options;
    }
}
