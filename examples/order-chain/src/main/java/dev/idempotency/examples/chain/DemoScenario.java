package dev.idempotency.examples.chain;

import dev.idempotency.examples.chain.ServiceProcess.Setup;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;

/** The demo: a given number of orders, and a given number of kills. */
record DemoScenario(DemoOptions options) implements Scenario {
    @Override
    public Duration grace() {
        return Duration.ofSeconds(25);
    }

    @Override
    public Setup setup(ServiceName service, Path folder) {
        return Setup.PLAIN;
    }

    @Override
    public Intents intents(Timeline timeline, SplittableRandom random) {
        return Intents.of(options.orders(), random);
    }

    /** One killer for each service, so that an outage of the one does not move the kills of the other. */
    @Override
    public boolean isFarAhead(Chain chain, Answers answers) {
        return false;
    }

    @Override
    public List<Runnable> troubles(Chain chain, Answers answers, Timeline timeline, SplittableRandom random) {
        KillPlan plan = KillPlan.draw(options.kills(), options.orders(), random);
        return List.of(
                new Killer(plan, chain.service(ServiceName.ORDERS), answers::closed),
                new Killer(plan, chain.service(ServiceName.BILLING), chain.provider()::chargedOrders));
    }

    @Override
    public int steps() {
        return 2 * options.orders();
    }

    @Override
    public void show(ProgressDisplay progress, Chain chain, Answers answers, Timeline timeline) {
        int charged = chain.provider().chargedOrders();
        progress.show(
                answers.closed() + (long) charged,
                "answered " + answers.closed() + ", charged " + charged + ", killed "
                        + timeline.kills().size() + "/" + options.kills());
    }
}
