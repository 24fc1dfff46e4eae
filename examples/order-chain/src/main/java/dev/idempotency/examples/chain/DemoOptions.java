package dev.idempotency.examples.chain;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
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
        @Nullable Path report) implements Options {
    static final String PREFIX = "demo.";
    private static final List<String> NAMES = List.of("orders", "clients", "kills", "seed", "guard", "report");

    /** The options in the form in which messages name them. */
    static final String NAMED = GivenOptions.named(PREFIX, NAMES);

    /**
     * Reads the options; one that is missing or empty has its default.
     *
     * @param properties names with the prefix {@code demo.} and values; other names are not looked at
     * @return the options
     * @throws InvalidOptionException if a name is unknown or a value is out of range
     */
    static DemoOptions from(Map<String, String> properties) throws InvalidOptionException {
        GivenOptions given = new GivenOptions(PREFIX, NAMES, properties);
        return new DemoOptions(
                (int) given.number("orders", 1, 20_000, 200),
                (int) given.number("clients", 1, 64, 8),
                (int) given.number("kills", 0, 100, 6),
                given.seed(),
                given.on("guard"),
                given.file("report"));
    }

    @Override
    public String words() {
        return orders + " orders, " + clients + " clients, " + kills + " kills, guard " + guard() + ", seed " + seed;
    }

    @Override
    public String command() {
        return "mvn -q -Pdemo -Ddemo.guard=" + guard() + " -Ddemo.orders=" + orders + " -Ddemo.clients=" + clients
                + " -Ddemo.kills=" + kills + " -Ddemo.seed=" + seed;
    }
}
