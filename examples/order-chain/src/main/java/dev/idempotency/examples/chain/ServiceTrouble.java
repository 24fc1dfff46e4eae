package dev.idempotency.examples.chain;

import dev.idempotency.examples.chain.ServiceProcess.Standstill;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/** Kills a service, asks it to end, or makes it stand still. */
final class ServiceTrouble extends Trouble {
    private static final Duration START_PATIENCE = Duration.ofMinutes(3);
    /** Longer than a lease of the relay and a heartbeat of the consumer group, and longer than the grace period. */
    private static final long LONGEST_STANDSTILL_MILLIS = 9_000;

    private static final double KILLED = 0.3;
    private static final double TERMINATED = 0.4;
    private static final double STOPPED_WHILE_ENDING = 0.3;

    private final ServiceProcess service;
    private final Timeline timeline;

    ServiceTrouble(ServiceProcess service, Timeline timeline, BooleanSupplier over, SplittableRandom random) {
        super(over, random, 500, 7_000);
        this.service = service;
        this.timeline = timeline;
    }

    @Override
    void strike(SplittableRandom chance) throws DemoFailedException, InterruptedException {
        service.awaitReady(START_PATIENCE);
        double kind = chance.nextDouble();
        if (kind < KILLED) {
            service.kill(Signal.SIGKILL);
        } else if (kind < KILLED + TERMINATED) {
            terminate(chance);
        } else {
            long from = timeline.now();
            service.standStill(chance.nextLong(100, LONGEST_STANDSTILL_MILLIS));
            stood(from, "at work");
        }
    }

    private void terminate(SplittableRandom chance) throws InterruptedException {
        if (chance.nextDouble() >= STOPPED_WHILE_ENDING) {
            service.kill(Signal.SIGTERM);
            return;
        }
        long from = timeline.now();
        Standstill standstill = new Standstill(chance.nextLong(400), chance.nextLong(100, LONGEST_STANDSTILL_MILLIS));
        if (service.kill(Signal.SIGTERM, standstill).stood() > 0) {
            stood(from, "while it ended");
        }
    }

    private void stood(long from, String when) {
        timeline.add(new Timeline.Incident(
                Fault.SIGSTOP, "the " + service.name().label() + " stood still " + when, from, timeline.now()));
    }
}
