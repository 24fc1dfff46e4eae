package dev.idempotency.examples.chain;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * When which service is killed, and how.
 *
 * <p>The instants are counted in what the service has done, and not in seconds, so that they fall into its work on a slow
 * machine and on a fast one; a few milliseconds of delay on top put them between any two instructions.
 */
record KillPlan(List<PlannedKill> kills) {
    private static final int LONGEST_DELAY_MILLIS = 40;

    /** One kill: after how many intents that the service has dealt with, and how long to wait from then on. */
    record PlannedKill(int after, long delayMillis, ServiceName service, Signal signal) {}

    static KillPlan draw(int count, int intents, SplittableRandom random) {
        int[] instants = new int[count];
        for (int i = 0; i < count; i++) {
            instants[i] = (int) (intents * random.nextDouble(0.03, 0.90));
        }
        Arrays.sort(instants);
        List<PlannedKill> kills = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            kills.add(new PlannedKill(instants[i], random.nextLong(LONGEST_DELAY_MILLIS), service(i), signal(i)));
        }
        return new KillPlan(List.copyOf(kills));
    }

    /** In turn. */
    private static Signal signal(int index) {
        return index % 2 == 0 ? Signal.SIGKILL : Signal.SIGTERM;
    }

    /** In turns of two that are swapped each time, so that each service gets both signals. */
    private static ServiceName service(int index) {
        return index % 4 == 0 || index % 4 == 3 ? ServiceName.ORDERS : ServiceName.BILLING;
    }
}
