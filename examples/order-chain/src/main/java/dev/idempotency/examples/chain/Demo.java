package dev.idempotency.examples.chain;

import dev.idempotency.examples.chain.billing.BillingService;
import dev.idempotency.examples.chain.service.OrderPlaced;
import dev.idempotency.examples.chain.service.ServiceSettings;
import dev.idempotency.testkit.service.EmbeddedKafka;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;

/** One run: starts everything, lets customers and trouble loose, waits until the chain has settled, and counts. */
final class Demo implements AutoCloseable {
    private static final Duration START_PATIENCE = Duration.ofMinutes(3);
    private static final long GLANCE_MILLIS = 200;

    private final Scenario scenario;
    private final Options options;
    private final Timeline timeline = new Timeline();
    private final Answers answers = new Answers();
    private final OpenThings open = new OpenThings();
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

    Demo(Scenario scenario) {
        this.scenario = scenario;
        this.options = scenario.options();
    }

    /**
     * Runs the demo once.
     *
     * @return what came of it
     * @throws DemoFailedException if it could not run
     */
    Result run() throws DemoFailedException, InterruptedException {
        try {
            SplittableRandom random = new SplittableRandom(options.seed());
            WorkFolder folder = open.add(WorkFolder.create());
            PaymentProvider provider = open.add(PaymentProvider.start(timeline, random.nextLong()));
            CompletableFuture<EmbeddedKafka> starting = CompletableFuture.supplyAsync(() -> startKafka(folder));
            Database database = open.add(Database.start(folder));
            EmbeddedKafka kafka = starting.join();

            Map<ServiceName, ServiceProcess> services = startServices(database, kafka, provider, folder);
            try (Topic topic = new Topic(kafka.bootstrapServers(), BillingService.GROUP)) {
                return run(new Chain(provider, database, kafka, services, topic), random);
            }
        } catch (IOException | UncheckedIOException e) {
            throw new DemoFailedException("The demo could not set up its parts", e);
        } catch (CompletionException e) {
            throw new DemoFailedException("The embedded Kafka did not start", e);
        }
    }

    private EmbeddedKafka startKafka(WorkFolder folder) {
        EmbeddedKafka kafka = open.add(EmbeddedKafka.startIn(folder.broker()));
        kafka.createTopic(OrderPlaced.TOPIC, Topic.PARTITIONS);
        return kafka;
    }

    private Map<ServiceName, ServiceProcess> startServices(
            Database database, EmbeddedKafka kafka, PaymentProvider provider, WorkFolder folder)
            throws IOException, DemoFailedException, InterruptedException {
        Map<ServiceName, ServiceProcess> services = new EnumMap<>(ServiceName.class);
        for (ServiceName name : ServiceName.values()) {
            ServiceProcess.Setup setup = scenario.setup(name, folder.path());
            ServiceSettings settings = new ServiceSettings(
                    options.guarded(),
                    database.jdbcUrl(),
                    kafka.bootstrapServers(),
                    provider.uri(),
                    scenario.grace(),
                    setup.clock());
            services.put(name, open.add(ServiceProcess.start(name, settings, setup, folder.temporary(), timeline)));
        }
        for (ServiceProcess service : services.values()) {
            service.awaitReady(START_PATIENCE);
        }
        return services;
    }

    private Result run(Chain chain, SplittableRandom random) throws DemoFailedException, InterruptedException {
        SplittableRandom ofIntents = random.split();
        SplittableRandom ofTroubles = random.split();
        Client client = new Client(chain.service(ServiceName.ORDERS), timeline, answers);
        Intents intents = scenario.intents(timeline, ofIntents);
        try (ProgressDisplay progress = new ProgressDisplay(scenario.steps())) {
            open.add(Load.start(
                    intents,
                    options.clients(),
                    client,
                    answers,
                    () -> scenario.isFarAhead(chain, answers),
                    random.split()));
            List<Thread> troubles = scenario.troubles(chain, answers, timeline, ofTroubles).stream()
                    .map(this::start)
                    .toList();
            Settlement settlement = new Settlement(chain.database(), chain.topic(), chain.provider());
            while (!isAnswered(intents) || isAnyAlive(troubles) || !settlement.reached()) {
                answers.awaitClosed(intents.haveEnded() ? intents.count() : Integer.MAX_VALUE, GLANCE_MILLIS);
                scenario.show(progress, chain, answers, timeline);
                checkTroubles();
                if (isAnswered(intents) && isAnyAlive(troubles)) {
                    Pause.ofMillis(GLANCE_MILLIS);
                }
                if (isAnswered(intents) && !isAnyAlive(troubles)) {
                    checkAlive(chain);
                    settlement.look();
                }
            }
            scenario.show(progress, chain, answers, timeline);
        }
        Duration took = Duration.ofMillis(timeline.now());
        Figures figures = Figures.count(
                intents.drawn(),
                answers,
                chain.database().orders(),
                chain.provider().charges(),
                chain.database().invoicedOrders());
        chain.services().values().forEach(ServiceProcess::close);
        return new Result(
                options,
                figures,
                chain.topic().events(),
                chain.topic().messages(),
                timeline.attempts(),
                timeline.calls(),
                timeline.runs(),
                timeline.kills(),
                timeline.incidents(),
                scenario.grace(),
                chain.crashes(),
                took);
    }

    private boolean isAnswered(Intents intents) {
        return intents.haveEnded() && answers.closed() == intents.count();
    }

    private Thread start(Runnable trouble) {
        Thread thread = new Thread(trouble, "trouble");
        thread.setDaemon(true);
        thread.setUncaughtExceptionHandler((ignored, failure) -> failures.add(failure));
        thread.start();
        return thread;
    }

    /** Trouble that could not be made would look like a chain that stands everything. */
    private void checkTroubles() throws DemoFailedException {
        Throwable failure = failures.peek();
        if (failure != null) {
            throw new DemoFailedException("The demo has a bug", failure);
        }
    }

    private static boolean isAnyAlive(List<Thread> threads) {
        return threads.stream().anyMatch(Thread::isAlive);
    }

    /** A service that does not come up again would look like losses; it is said as what it is. */
    private void checkAlive(Chain chain) throws DemoFailedException, InterruptedException {
        for (ServiceProcess service : chain.services().values()) {
            service.awaitReady(START_PATIENCE);
        }
    }

    /** Ends everything that was started; a second call waits for the first. */
    @Override
    public void close() {
        open.close();
    }
}
