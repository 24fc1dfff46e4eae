package dev.idempotency.examples.chain;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;

/**
 * The demo: orders go from clients over HTTP into a database, from there to Kafka and on to a payment provider, while
 * the services are killed; at the end it counts what happened more than once or not at all.
 *
 * <p>Started by {@code mvn -q -Pdemo}. The exit status is 0 if every order was placed and charged exactly once, 1 if
 * not, 2 for a bad option, 3 if the demo could not run.
 */
public final class OrderChain {
    private static final int GOOD = 0;
    private static final int DEFECTS = 1;
    private static final int BAD_OPTION = 2;
    private static final int COULD_NOT_RUN = 3;

    private OrderChain() {}

    /**
     * Runs the demo and ends the process.
     *
     * @param arguments nothing, or two files: one with the options, over which system properties win, and one that
     *     exists at the end if, and only if, the exit status is 0
     * @throws Exception if the options cannot be read or the report not written
     */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 1) {
            Files.deleteIfExists(Path.of(arguments[1]));
        }
        int status = run(options(arguments));
        if (arguments.length > 1 && status == GOOD) {
            Files.createFile(Path.of(arguments[1]));
        }
        System.exit(status);
    }

    private static int run(Map<String, String> properties) throws IOException, InterruptedException {
        DemoOptions options;
        try {
            options = DemoOptions.from(properties);
        } catch (InvalidOptionException e) {
            System.err.println(e.getMessage());
            return BAD_OPTION;
        }
        System.out.printf(
                "order chain: %d orders, %d clients, %d kills, guard %s, seed %d (repeat with -Ddemo.seed=%d)%n",
                options.orders(),
                options.clients(),
                options.kills(),
                options.guarded() ? "on" : "off",
                options.seed(),
                options.seed());
        Demo demo = new Demo(options);
        // Ctrl-C leaves nothing behind. At the regular end everything is closed already, and this does nothing.
        Runtime.getRuntime().addShutdownHook(new Thread(demo::close, "close-demo"));
        Result result;
        try (demo) {
            result = demo.run();
        } catch (DemoFailedException e) {
            System.err.println(e.getMessage() + (e.getCause() == null ? "" : ": " + e.getCause()));
            return COULD_NOT_RUN;
        }
        tell(result);
        return result.figures().good() ? GOOD : DEFECTS;
    }

    private static void tell(Result result) throws IOException {
        System.out.println();
        System.out.print(Summary.table(result));
        result.figures().defects().stream().limit(10).forEach(defect -> System.out.println("  ! " + defect));
        int more = result.figures().defects().size() - 10;
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

    private static Map<String, String> options(String[] arguments) throws IOException {
        Properties properties = new Properties();
        if (arguments.length > 0) {
            try (Reader reader = Files.newBufferedReader(Path.of(arguments[0]))) {
                properties.load(reader);
            }
        }
        properties.putAll(System.getProperties());
        Map<String, String> options = new HashMap<>();
        properties.stringPropertyNames().forEach(name -> options.put(name, properties.getProperty(name)));
        return options;
    }
}
