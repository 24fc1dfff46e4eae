package dev.idempotency.examples.chain;

import dev.idempotency.examples.chain.KillPlan.PlannedKill;
import java.time.Duration;
import java.util.List;
import java.util.function.IntSupplier;

/** Carries out the planned kills of one service beside the load. */
final class Killer implements Runnable {
    private static final Duration START_PATIENCE = Duration.ofMinutes(3);
    private static final Duration WITHOUT_PROGRESS = Duration.ofSeconds(20);
    private static final long GLANCE_MILLIS = 3;

    private final List<PlannedKill> kills;
    private final ServiceProcess service;
    private final IntSupplier progress;

    /**
     * Takes the kills of this service from the plan.
     *
     * @param plan all kills
     * @param service the victim
     * @param progress how many intents the service has dealt with
     */
    Killer(KillPlan plan, ServiceProcess service, IntSupplier progress) {
        this.kills = plan.kills().stream()
                .filter(kill -> kill.service() == service.name())
                .toList();
        this.service = service;
        this.progress = progress;
    }

    @Override
    public void run() {
        try {
            for (PlannedKill kill : kills) {
                service.awaitReady(START_PATIENCE);
                awaitProgress(kill.after());
                Pause.ofMillis(kill.delayMillis());
                service.kill(kill.signal());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (DemoFailedException e) {
            // Whoever waits for the end finds the service down, and says so with more words.
        }
    }

    /** Waits for the work to get so far, or to get no further: a chain that is stuck must not outlive the demo. */
    private void awaitProgress(int goal) {
        int seen = -1;
        long since = System.nanoTime();
        for (int now = progress.getAsInt(); now < goal; now = progress.getAsInt()) {
            if (now != seen) {
                seen = now;
                since = System.nanoTime();
            } else if (System.nanoTime() - since > WITHOUT_PROGRESS.toNanos()) {
                return;
            }
            Pause.ofMillis(GLANCE_MILLIS);
        }
    }
}
