package dev.idempotency.examples.chain;

import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/**
 * Lets the clock of a service jump: forwards by most of an hour, or backwards by seconds, as a correction by NTP or a
 * virtual machine that is moved does.
 *
 * <p>Not further backwards: Kafka's own client measures its time-outs with the wall clock, and then waits for so long.
 */
final class ClockTrouble extends Trouble {
    private static final long FURTHEST_BACK = 10;
    private static final long FURTHEST_FORTH = 3_000;

    private final ServiceName service;
    private final SteppedClock clock;
    private final Timeline timeline;

    ClockTrouble(
            ServiceName service, SteppedClock clock, Timeline timeline, BooleanSupplier over, SplittableRandom random) {
        super(over, random, 1_000, 8_000);
        this.service = service;
        this.clock = clock;
        this.timeline = timeline;
    }

    @Override
    void strike(SplittableRandom chance) {
        long seconds = clock.step(
                chance.nextBoolean() ? -chance.nextLong(1, FURTHEST_BACK + 1) : chance.nextLong(1, FURTHEST_FORTH + 1));
        String what = "the clock of the " + service.label() + " jumped by " + seconds + " s";
        timeline.add(new Timeline.Incident(Fault.CLOCK, what, timeline.now(), timeline.now()));
    }
}
