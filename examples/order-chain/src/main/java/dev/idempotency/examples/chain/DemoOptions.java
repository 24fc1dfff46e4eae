package dev.idempotency.examples.chain;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * What the demo was asked to do.
 *
 * @param orders how many purchase intents are sent
 * @param clients how many clients send them at the same time
 * @param kills how often a service is killed meanwhile
 * @param seed what the plan of kills, time-outs and dropped answers is drawn from
 * @param guarded true with the library, false with the naive forms
 * @param report where to write the page with the timeline, or null for none
 */
record DemoOptions(
        int orders,
        int clients,
        int kills,
        long seed,
        boolean guarded,
        @Nullable Path report) {
    private static final String PREFIX = "demo.";
    private static final Set<String> NAMES = Set.of("orders", "clients", "kills", "seed", "guard", "report");

    /** The options in the form in which messages name them. */
    static final String NAMED = "demo.orders, demo.clients, demo.kills, demo.seed, demo.guard, demo.report";

    /**
     * Reads the options; one that is missing or empty has its default.
     *
     * @param properties names with the prefix {@code demo.} and values; other names are not looked at
     * @return the options
     * @throws InvalidOptionException if a name is unknown or a value is out of range
     */
    static DemoOptions from(Map<String, String> properties) throws InvalidOptionException {
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
        return new DemoOptions(
                (int) number(given, "orders", 1, 20_000, 200),
                (int) number(given, "clients", 1, 64, 8),
                (int) number(given, "kills", 0, 100, 6),
                // Six digits by default: it has to be typed in again.
                number(
                        given,
                        "seed",
                        0,
                        Long.MAX_VALUE,
                        ThreadLocalRandom.current().nextInt(1_000_000)),
                guard(given.getOrDefault("guard", "on")),
                report(given.get("report")).orElse(null));
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

    private static boolean guard(String value) throws InvalidOptionException {
        return switch (value) {
            case "on" -> true;
            case "off" -> false;
            default -> throw new InvalidOptionException(PREFIX + "guard=" + value + ": must be on or off");
        };
    }

    private static Optional<Path> report(@Nullable String value) throws InvalidOptionException {
        if (value == null) {
            return Optional.empty();
        }
        try {
            Path file = Path.of(value).toAbsolutePath().normalize();
            Path folder = file.getParent();
            if (folder != null && Files.isDirectory(folder) && Files.isWritable(folder) && !Files.isDirectory(file)) {
                return Optional.of(file);
            }
        } catch (InvalidPathException e) {
            // The same message as for a file that cannot be written.
        }
        throw new InvalidOptionException(
                PREFIX + "report=" + value + ": must be a file in a folder that exists and can be written");
    }
}
