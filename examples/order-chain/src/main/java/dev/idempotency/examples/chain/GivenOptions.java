package dev.idempotency.examples.chain;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** The options of one scenario as they were typed, and what may stand in them. */
final class GivenOptions {
    private final String prefix;
    private final Map<String, String> given = new TreeMap<>();

    /**
     * Picks the options out of all properties; one that is empty counts as missing.
     *
     * @param prefix what the options' names begin with; other properties are not looked at
     * @param names the options there are
     * @param properties names with the prefix, and values
     * @throws InvalidOptionException if a name is unknown
     */
    GivenOptions(String prefix, List<String> names, Map<String, String> properties) throws InvalidOptionException {
        this.prefix = prefix;
        for (Map.Entry<String, String> property : properties.entrySet()) {
            if (property.getKey().startsWith(prefix)) {
                String name = property.getKey().substring(prefix.length());
                if (!names.contains(name)) {
                    throw new InvalidOptionException(
                            property.getKey() + ": unknown option, the options are " + named(prefix, names));
                }
                if (!property.getValue().isEmpty()) {
                    given.put(name, property.getValue());
                }
            }
        }
    }

    /** The options in the form in which messages name them. */
    static String named(String prefix, List<String> names) {
        return prefix + String.join(", " + prefix, names);
    }

    long number(String name, long least, long greatest, long otherwise) throws InvalidOptionException {
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
        throw refused(name, value, "must be a whole number from " + least + " to " + greatest);
    }

    /** Returns the seed; six digits if none was given, because it has to be typed in again. */
    long seed() throws InvalidOptionException {
        return number("seed", 0, Long.MAX_VALUE, ThreadLocalRandom.current().nextInt(1_000_000));
    }

    boolean on(String name) throws InvalidOptionException {
        String value = given.getOrDefault(name, "on");
        return switch (value) {
            case "on" -> true;
            case "off" -> false;
            default -> throw refused(name, value, "must be on or off");
        };
    }

    @Nullable
    Path file(String name) throws InvalidOptionException {
        String value = given.get(name);
        if (value == null) {
            return null;
        }
        try {
            Path file = Path.of(value).toAbsolutePath().normalize();
            Path folder = file.getParent();
            if (folder != null && Files.isDirectory(folder) && Files.isWritable(folder) && !Files.isDirectory(file)) {
                return file;
            }
        } catch (InvalidPathException e) {
            // The same message as for a file that cannot be written.
        }
        throw refused(name, value, "must be a file in a folder that exists and can be written");
    }

    private InvalidOptionException refused(String name, String value, String range) {
        return new InvalidOptionException(prefix + name + "=" + value + ": " + range);
    }
}
