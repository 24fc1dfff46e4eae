package dev.idempotency.examples.chain;

import dev.idempotency.examples.chain.ServiceProcess.Setup;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/** The soak: for a given time, orders without end and faults of every kind. */
final class SoakScenario implements Scenario {
    /** Short, so that what hangs while a service ends runs into it. */
    private static final Duration GRACE = Duration.ofSeconds(6);

    /** Enough to keep billing busy at all times, and billed within a minute when the faults have ended. */
    private static final int MOST_AHEAD = 200;

    private final SoakOptions options;
    private final Map<ServiceName, SteppedClock> clocks = new EnumMap<>(ServiceName.class);
    private BooleanSupplier over = () -> false;

    SoakScenario(SoakOptions options) {
        this.options = options;
    }

    @Override
    public SoakOptions options() {
        return options;
    }

    @Override
    public Duration grace() {
        return GRACE;
    }

    /** Each life of a service begins with another clock, and in each the clock jumps. */
    @Override
    public Setup setup(ServiceName service, Path folder) {
        SteppedClock clock = new SteppedClock(
                folder,
                service,
                new SplittableRandom(options.seed() + service.name().hashCode()));
        clocks.put(service, clock);
        return SteppedClock.isOfTheWholeProcess()
                ? new Setup(clock.environment(), null, clock::draw, SteppedClock::cleanUpAfter)
                : new Setup(Map.of(), clock.file(), clock::draw, pid -> {});
    }

    @Override
    public Intents intents(Timeline timeline, SplittableRandom random) {
        long end = timeline.now() + options.length().toMillis();
        over = () -> timeline.now() >= end;
        return Intents.until(over, random);
    }

    @Override
    public boolean isFarAhead(Chain chain, Answers answers) {
        return answers.closed() - chain.provider().chargedOrders() > MOST_AHEAD;
    }

    @Override
    public List<Runnable> troubles(Chain chain, Answers answers, Timeline timeline, SplittableRandom random) {
        List<Runnable> troubles = new ArrayList<>();
        for (ServiceName service : ServiceName.values()) {
            troubles.add(new ServiceTrouble(chain.service(service), timeline, over, random.split()));
        }
        clocks.forEach(
                (service, clock) -> troubles.add(new ClockTrouble(service, clock, timeline, over, random.split())));
        troubles.add(new DatabaseTrouble(chain.database(), timeline, over, random.split()));
        troubles.add(new BrokerTrouble(chain.kafka(), timeline, over, random.split()));
        return troubles;
    }

    @Override
    public int steps() {
        return (int) options.length().toSeconds();
    }

    @Override
    public void show(ProgressDisplay progress, Chain chain, Answers answers, Timeline timeline) {
        int faults = timeline.kills().size() + timeline.incidents().size();
        progress.show(
                timeline.now() / 1000,
                "answered " + answers.closed() + ", charged " + chain.provider().chargedOrders() + ", faults "
                        + faults);
    }
}
