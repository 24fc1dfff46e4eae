package dev.idempotency.examples.chain;

import dev.idempotency.examples.chain.KillPlan.PlannedKill;
import java.time.Duration;
import java.util.Map;

/** Carries out the plan of kills beside the load. */
final class Killer implements Runnable {
    private static final Duration START_PATIENCE = Duration.ofSeconds(60);
    private static final long STUCK_MILLIS = 20_000;

    private final KillPlan plan;
    private final Map<ServiceName, ServiceProcess> services;
    private final Answers answers;

    Killer(KillPlan plan, Map<ServiceName, ServiceProcess> services, Answers answers) {
        this.plan = plan;
        this.services = Map.copyOf(services);
        this.answers = answers;
    }

    @Override
    public void run() {
        try {
            for (PlannedKill kill : plan.kills()) {
                // Kills without progress if there is none: a stuck chain must not keep the demo from its end.
                answers.awaitClosed(kill.afterAnswers(), STUCK_MILLIS);
                ServiceProcess service = service(kill.service());
                service.awaitReady(START_PATIENCE);
                Pause.ofMillis(kill.delayMillis());
                service.kill(kill.signal());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (DemoFailedException e) {
            // Whoever waits for the end finds the service down, and says so with more words.
        }
    }

    private ServiceProcess service(ServiceName name) {
        ServiceProcess service = services.get(name);
        if (service == null) {
            throw new IllegalArgumentException("There is no " + name.label());
        }
        return service;
    }
}
