package dev.idempotency.examples.chain;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the soak was asked to do.
 *
 * @param minutes how long purchase intents are sent and faults happen
 * @param clients how many clients send at the same time
 * @param seed what faults, time-outs and dropped answers are drawn from
 * @param report where to write the page with the timeline, or null for none
 */
record SoakOptions(
        int minutes, int clients, long seed, @Nullable Path report) implements Options {
    static final String PREFIX = "soak.";
    private static final List<String> NAMES = List.of("minutes", "clients", "seed", "report");

    /** The options in the form in which messages name them. */
    static final String NAMED = GivenOptions.named(PREFIX, NAMES);

    /**
     * Reads the options; one that is missing or empty has its default.
     *
     * @param properties names with the prefix {@code soak.} and values; other names are not looked at
     * @return the options
     * @throws InvalidOptionException if a name is unknown or a value is out of range
     */
    static SoakOptions from(Map<String, String> properties) throws InvalidOptionException {
        GivenOptions given = new GivenOptions(PREFIX, NAMES, properties);
        return new SoakOptions(
                // Everything is counted at the end, so everything is kept until then.
                (int) given.number("minutes", 1, 240, 10),
                (int) given.number("clients", 1, 64, 8),
                given.seed(),
                given.file("report"));
    }

    Duration length() {
        return Duration.ofMinutes(minutes);
    }

    @Override
    public boolean guarded() {
        return true;
    }

    @Override
    public String words() {
        return minutes + " minutes, " + clients + " clients, faults of every kind, seed " + seed;
    }

    @Override
    public String command() {
        return "mvn -q -Psoak -Dsoak.minutes=" + minutes + " -Dsoak.clients=" + clients + " -Dsoak.seed=" + seed;
    }
}
