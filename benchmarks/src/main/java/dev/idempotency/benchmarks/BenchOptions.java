package dev.idempotency.benchmarks;

import dev.idempotency.benchmarks.harness.Settings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the program was asked to measure.
 *
 * @param suites the names of the suites, in their order
 * @param settings how to measure them
 */
record BenchOptions(List<String> suites, Settings settings) {
    private static final String NAME = "bench";
    private static final String PREFIX = NAME + ".";
    private static final List<String> NAMES = List.of("clients", "only", "quick", "rows", "runs", "seconds");

    /** The options in the form in which messages name them. */
    private static final String NAMED = NAME + ", " + PREFIX + String.join(", " + PREFIX, NAMES);

    BenchOptions {
        suites = List.copyOf(suites);
    }

    /**
     * Reads the options; one that is missing or empty has its default.
     *
     * @param properties {@code bench} and names with the prefix {@code bench.}; other names are not looked at
     * @param known the names of all suites
     * @return the options
     * @throws InvalidOptionException if a name is unknown or a value is out of range
     */
    static BenchOptions from(Map<String, String> properties, List<String> known) throws InvalidOptionException {
        Map<String, String> given = new TreeMap<>();
        for (Map.Entry<String, String> property : properties.entrySet()) {
            if (property.getKey().startsWith(PREFIX)) {
                String name = property.getKey().substring(PREFIX.length());
                if (!NAMES.contains(name)) {
                    throw new InvalidOptionException(property.getKey() + ": unknown option, the options are " + NAMED);
                }
                if (!property.getValue().isEmpty()) {
                    given.put(name, property.getValue());
                }
            }
        }
        boolean quick = isQuick(given.getOrDefault("quick", "false"));
        return new BenchOptions(suites(properties.getOrDefault(NAME, ""), known), settings(given, quick));
    }

    private static List<String> suites(String value, List<String> known) throws InvalidOptionException {
        if (value.equals("all")) {
            return known;
        }
        if (known.contains(value)) {
            return List.of(value);
        }
        throw new InvalidOptionException(
                NAME + "=" + value + ": must be one of " + String.join(", ", known) + " or all");
    }

    private static boolean isQuick(String value) throws InvalidOptionException {
        return switch (value) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new InvalidOptionException(PREFIX + "quick=" + value + ": must be true or false");
        };
    }

    private static Settings settings(Map<String, String> given, boolean quick) throws InvalidOptionException {
        // Fewer than five runs are no figure; the quick form makes none anyway.
        int runs = (int) number(given, "runs", quick ? 1 : 5, 100, quick ? 1 : 5);
        Duration length = given.containsKey("seconds")
                ? Duration.ofSeconds(number(given, "seconds", 1, 600, 1))
                : Duration.ofMillis(quick ? 300 : 4_000);
        return new Settings(
                quick,
                runs,
                length,
                number(given, "rows", Settings.FEW_ROWS, 100_000_000, quick ? 2 * Settings.FEW_ROWS : 1_000_000),
                (int) number(given, "clients", 1, 64, 8),
                given.getOrDefault("only", ""));
    }

    private static long number(Map<String, String> given, String name, long least, long greatest, long otherwise)
            throws InvalidOptionException {
        String value = given.get(name);
        if (value == null) {
            return otherwise;
        }
        try {
            long number = Long.parseLong(value);
            if (number >= least && number <= greatest) {
                return number;
            }
        } catch (NumberFormatException e) {
            // The same message as for a number out of range.
        }
        throw new InvalidOptionException(
                PREFIX + name + "=" + value + ": must be a whole number from " + least + " to " + greatest);
    }
}
