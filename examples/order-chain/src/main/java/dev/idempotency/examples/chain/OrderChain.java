package dev.idempotency.examples.chain;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Orders go from clients over HTTP into a database, from there to Kafka and on to a payment provider, while the services
 * are killed; at the end it is counted what happened more than once or not at all.
 *
 * <p>Started by {@code mvn -q -Pdemo} for a given number of orders and kills, and by {@code mvn -q -Psoak} for a given
 * time with faults of every kind. The exit status is 0 if every order was placed and charged exactly once and every
 * service that was asked to end did so in time, 1 if not, 2 for a bad option, 3 if the program could not run.
 */
public final class OrderChain {
    private static final int GOOD = 0;
    private static final int DEFECTS = 1;
    private static final int BAD_OPTION = 2;
    private static final int COULD_NOT_RUN = 3;

    private OrderChain() {}

    /**
     * Runs a scenario and ends the process.
     *
     * @param arguments the scenario, {@code demo} or {@code soak}, where nothing means the demo; and, if given, two
     *     files: one with the options, over which system properties win, and one that exists at the end if, and only
     *     if, the exit status is 0
     * @throws Exception if the options cannot be read or the report not written
     */
    public static void main(String[] arguments) throws Exception {
        String name = arguments.length > 0 ? arguments[0] : "demo";
        Path good = arguments.length > 2 ? Path.of(arguments[2]) : null;
        if (good != null) {
            Files.deleteIfExists(good);
        }
        int status = run(name, options(arguments.length > 1 ? Path.of(arguments[1]) : null));
        if (good != null && status == GOOD) {
            Files.createFile(good);
        }
        System.exit(status);
    }

    private static int run(String name, Map<String, String> properties) throws IOException, InterruptedException {
        Scenario scenario;
        try {
            scenario = scenario(name, properties);
        } catch (InvalidOptionException e) {
            System.err.println(e.getMessage());
            return BAD_OPTION;
        }
        Options options = scenario.options();
        System.out.println("order chain: " + options.words() + " (repeat with " + options.command() + ")");
        Demo demo = new Demo(scenario);
        // Ctrl-C leaves nothing behind. At the regular end everything is closed already, and this does nothing.
        Runtime.getRuntime().addShutdownHook(new Thread(demo::close, "close-demo"));
        // A signal to Maven alone reaches nobody else, so the end of whoever started this counts as Ctrl-C, too.
        ProcessHandle.current().parent().ifPresent(OrderChain::endWith);
        Result result;
        try (demo) {
            result = demo.run();
        } catch (DemoFailedException e) {
            System.err.println(e.getMessage() + (e.getCause() == null ? "" : ": " + e.getCause()));
            return COULD_NOT_RUN;
        }
        tell(result);
        return result.good() ? GOOD : DEFECTS;
    }

    private static void endWith(ProcessHandle parent) {
        CompletableFuture<Void> unused = parent.onExit().thenRun(() -> System.exit(COULD_NOT_RUN));
    }

    private static Scenario scenario(String name, Map<String, String> properties) throws InvalidOptionException {
        return switch (name) {
            case "demo" -> new DemoScenario(DemoOptions.from(properties));
            case "soak" -> new SoakScenario(SoakOptions.from(properties));
            default -> throw new InvalidOptionException(name + ": unknown scenario, there are demo and soak");
        };
    }

    private static void tell(Result result) throws IOException {
        System.out.println();
        System.out.print(Summary.table(result));
        result.defects().stream().limit(10).forEach(defect -> System.out.println("  ! " + defect));
        int more = result.defects().size() - 10;
        if (more > 0) {
            System.out.println("  ! and " + more + " more");
        }
        Path report = result.options().report();
        if (report != null) {
            HtmlReport.write(result, report);
            System.out.println("report: " + report);
        }
        System.out.println(result.line());
    }

    private static Map<String, String> options(@Nullable Path file) throws IOException {
        Properties properties = new Properties();
        if (file != null) {
            try (Reader reader = Files.newBufferedReader(file)) {
                properties.load(reader);
            }
        }
        properties.putAll(System.getProperties());
        Map<String, String> options = new HashMap<>();
        properties.stringPropertyNames().forEach(name -> options.put(name, properties.getProperty(name)));
        return options;
    }
}
