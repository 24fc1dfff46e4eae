package dev.idempotency.examples.chain;

import dev.idempotency.examples.chain.billing.BillingService;
import dev.idempotency.examples.chain.service.OrderPlaced;
import dev.idempotency.examples.chain.service.ServiceSettings;
import dev.idempotency.testkit.service.EmbeddedKafka;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** One run: starts everything, lets customers and the killer loose, waits until the chain has settled, and counts. */
final class Demo implements AutoCloseable {
    private static final Duration START_PATIENCE = Duration.ofMinutes(3);
    private static final long GLANCE_MILLIS = 200;

    private final DemoOptions options;
    private final Timeline timeline = new Timeline();
    private final Answers answers = new Answers();
    private final OpenThings open = new OpenThings();

    Demo(DemoOptions options) {
        this.options = options;
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

            ServiceSettings settings = new ServiceSettings(
                    options.guarded(), database.jdbcUrl(), kafka.bootstrapServers(), provider.uri());
            Map<ServiceName, ServiceProcess> services = startServices(settings, folder.temporary());
            try (Topic topic = new Topic(kafka.bootstrapServers(), BillingService.GROUP)) {
                return run(new Chain(provider, database, services, topic), random);
            }
        } catch (IOException | UncheckedIOException e) {
            throw new DemoFailedException("The demo could not set up its parts", e);
        } catch (CompletionException e) {
            throw new DemoFailedException("The embedded Kafka did not start", e);
        }
    }

    /** What is running. */
    private record Chain(
            PaymentProvider provider, Database database, Map<ServiceName, ServiceProcess> services, Topic topic) {
        ServiceProcess service(ServiceName name) {
            ServiceProcess service = services.get(name);
            if (service == null) {
                throw new IllegalArgumentException("There is no " + name.label());
            }
            return service;
        }

        int crashes() {
            return services.values().stream().mapToInt(ServiceProcess::crashes).sum();
        }
    }

    private EmbeddedKafka startKafka(WorkFolder folder) {
        EmbeddedKafka kafka = open.add(EmbeddedKafka.startIn(folder.broker()));
        kafka.createTopic(OrderPlaced.TOPIC, Topic.PARTITIONS);
        return kafka;
    }

    private Map<ServiceName, ServiceProcess> startServices(ServiceSettings settings, Path temporary)
            throws DemoFailedException, InterruptedException {
        Map<ServiceName, ServiceProcess> services = new EnumMap<>(ServiceName.class);
        for (ServiceName name : ServiceName.values()) {
            services.put(name, open.add(ServiceProcess.start(name, settings, temporary, timeline)));
        }
        for (ServiceProcess service : services.values()) {
            service.awaitReady(START_PATIENCE);
        }
        return services;
    }

    private Result run(Chain chain, SplittableRandom random) throws DemoFailedException, InterruptedException {
        List<Intent> intents = Intent.draw(options.orders(), random.split());
        KillPlan plan = KillPlan.draw(options.kills(), options.orders(), random.split());
        Client client = new Client(chain.service(ServiceName.ORDERS), timeline, answers);
        try (ProgressDisplay progress = new ProgressDisplay(2 * options.orders(), options.kills())) {
            open.add(Load.start(intents, options.clients(), client, answers, random.split()));
            List<Thread> killers = startKillers(plan, chain);
            Settlement settlement = new Settlement(chain.database(), chain.topic(), chain.provider());
            while (answers.closed() < intents.size() || isAnyAlive(killers) || !settlement.reached()) {
                answers.awaitClosed(intents.size(), GLANCE_MILLIS);
                progress.show(
                        answers.closed(),
                        chain.provider().chargedOrders(),
                        timeline.kills().size());
                if (answers.closed() == intents.size() && !isAnyAlive(killers)) {
                    checkAlive(chain);
                    settlement.look();
                }
            }
            progress.show(
                    answers.closed(),
                    chain.provider().chargedOrders(),
                    timeline.kills().size());
        }
        Duration took = Duration.ofMillis(timeline.now());
        Figures figures = Figures.count(
                intents,
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
                chain.crashes(),
                took);
    }

    /** One killer for each service, so that an outage of the one does not move the kills of the other. */
    private List<Thread> startKillers(KillPlan plan, Chain chain) {
        return List.of(
                start(new Killer(plan, chain.service(ServiceName.ORDERS), answers::closed)),
                start(new Killer(plan, chain.service(ServiceName.BILLING), chain.provider()::chargedOrders)));
    }

    private static Thread start(Killer killer) {
        Thread thread = new Thread(killer, "killer");
        thread.setDaemon(true);
        thread.start();
        return thread;
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
