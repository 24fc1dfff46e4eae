package dev.idempotency.examples.chain;

import dev.idempotency.examples.chain.Timeline.Attempt;
import dev.idempotency.examples.chain.Timeline.Incident;
import dev.idempotency.examples.chain.Timeline.Kill;
import dev.idempotency.examples.chain.Timeline.Outcome;
import dev.idempotency.examples.chain.service.ServiceSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Everything that is known at the end of a run.
 *
 * @param options what was asked for
 * @param figures the count
 * @param events how many different events are on the topic
 * @param messages how many messages carry them
 * @param attempts every request of the clients
 * @param calls every call that reached the provider
 * @param runs every life of a service
 * @param kills every kill
 * @param incidents every fault but the kills
 * @param grace how long a service may take to end, by its own settings
 * @param crashes how often a service ended although nobody had killed it
 * @param took how long the whole demo took
 */
record Result(
        Options options,
        Figures figures,
        int events,
        int messages,
        List<Attempt> attempts,
        List<Timeline.Call> calls,
        List<Timeline.Run> runs,
        List<Kill> kills,
        List<Incident> incidents,
        Duration grace,
        int crashes,
        Duration took) {

    /** What the end of a process may take beyond its grace period: the start of the hook, and the exit itself. */
    private static final Duration BEYOND_GRACE = Duration.ofSeconds(1);

    long count(Outcome outcome) {
        return attempts.stream().filter(attempt -> attempt.outcome() == outcome).count();
    }

    long retried() {
        return attempts.stream().filter(attempt -> attempt.number() > 1).count();
    }

    /** Returns how long each service took from SIGTERM to its end, in milliseconds, the shortest first. */
    List<Long> stopMillis() {
        return kills.stream()
                .filter(kill -> kill.signal() == Signal.SIGTERM)
                .map(Kill::took)
                .sorted()
                .toList();
    }

    /** Whether nothing happened twice or not at all, and every service that was asked to end did so in time. */
    boolean good() {
        return figures.good() && defects().size() == figures.defects().size();
    }

    /** One line for each thing that went wrong. */
    List<String> defects() {
        List<String> defects = new ArrayList<>(figures.defects());
        long allowed = grace.plus(BEYOND_GRACE).toMillis();
        for (Kill kill : kills) {
            if (kill.status() == ServiceSettings.HALTED) {
                defects.add("the " + kill.service().label() + " did not end by itself after SIGTERM and was halted");
            }
            if (kill.signal() == Signal.SIGTERM && kill.took() > allowed) {
                defects.add("the " + kill.service().label() + " took " + kill.took() + " ms from SIGTERM to its end, "
                        + allowed + " ms are allowed");
            }
        }
        return defects;
    }

    /** How often which fault happened. */
    Map<Fault, Integer> faults() {
        Map<Fault, Integer> faults = new EnumMap<>(Fault.class);
        for (Fault fault : Fault.values()) {
            faults.put(fault, 0);
        }
        kills.forEach(kill -> faults.merge(Fault.valueOf(kill.signal().name()), 1, Integer::sum));
        incidents.forEach(incident -> faults.merge(incident.fault(), 1, Integer::sum));
        return faults;
    }

    /** The last line of the output, for people and for scripts. */
    String line() {
        StringBuilder line = new StringBuilder(counts());
        if (options instanceof SoakOptions) {
            faults().forEach((fault, count) ->
                    line.append(' ').append(fault.label()).append('=').append(count));
        }
        return line.toString();
    }

    private String counts() {
        return "RESULT guard=%s orders=%d intents=%d charges=%d duplicates=%d lost=%d kills=%d replays=%d seconds=%d"
                .formatted(
                        options.guard(),
                        figures.orders(),
                        figures.intents(),
                        figures.charges(),
                        figures.duplicates(),
                        figures.lost(),
                        kills.size(),
                        count(Outcome.REPLAYED),
                        took.toSeconds());
    }
}
