package dev.idempotency.examples.chain;

import dev.idempotency.examples.chain.ServiceProcess.Setup;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;

/** One use of the chain: how much is sent through it, and what is done to it meanwhile. */
interface Scenario {
    Options options();

    /** How long a service may take from SIGTERM to its end, by its own settings. */
    Duration grace();

    /** How this service is to be started, but for what all scenarios have in common. */
    Setup setup(ServiceName service, Path folder);

    /** Begins the load. */
    Intents intents(Timeline timeline, SplittableRandom random);

    /** Tells whether so many orders are placed and not billed that customers had better wait. */
    boolean isFarAhead(Chain chain, Answers answers);

    /** Returns what is to be done beside the load; each ends by itself, not much later than the load. */
    List<Runnable> troubles(Chain chain, Answers answers, Timeline timeline, SplittableRandom random);

    /** How long the progress bar is. */
    int steps();

    /** Shows how far it has come. */
    void show(ProgressDisplay progress, Chain chain, Answers answers, Timeline timeline);
}
