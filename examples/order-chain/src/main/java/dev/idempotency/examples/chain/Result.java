package dev.idempotency.examples.chain;

import dev.idempotency.examples.chain.Timeline.Attempt;
import dev.idempotency.examples.chain.Timeline.Kill;
import dev.idempotency.examples.chain.Timeline.Outcome;
import java.time.Duration;
import java.util.List;

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
 * @param crashes how often a service ended although nobody had killed it
 * @param took how long the whole demo took
 */
record Result(
        DemoOptions options,
        Figures figures,
        int events,
        int messages,
        List<Attempt> attempts,
        List<Timeline.Call> calls,
        List<Timeline.Run> runs,
        List<Kill> kills,
        int crashes,
        Duration took) {

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
                .map(kill -> kill.gone() - kill.at())
                .sorted()
                .toList();
    }

    /** The last line of the output, for people and for scripts. */
    String line() {
        return "RESULT guard=%s orders=%d intents=%d charges=%d duplicates=%d lost=%d kills=%d replays=%d seconds=%d"
                .formatted(
                        options.guarded() ? "on" : "off",
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
