package dev.idempotency.examples.chain;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;

/** The customers: concurrent clients that send every intent until it is answered. */
final class Load implements AutoCloseable {
    /** All clients together begin about this many intents a second: a bit more than billing gets done. */
    private static final int INTENTS_PER_SECOND = 50;

    private static final long HELD_BACK_MILLIS = 100;

    private final ExecutorService threads = Executors.newCachedThreadPool(Load::daemon);
    private final Intents intents;
    private final Client client;
    private final Answers answers;
    private final BooleanSupplier holdBack;
    private final Duration longestThought;

    private Load(Intents intents, int clients, Client client, Answers answers, BooleanSupplier holdBack) {
        this.intents = intents;
        this.client = client;
        this.answers = answers;
        this.holdBack = holdBack;
        this.longestThought = Duration.ofMillis(2 * 1000L * clients / INTENTS_PER_SECOND);
    }

    /**
     * Starts the clients.
     *
     * @param intents what they want
     * @param clients how many they are
     * @param client how each sends
     * @param answers where they put what they hear
     * @param holdBack tells whether nobody is to begin another intent for the moment
     * @param random what their thinking is drawn from
     * @return the running load
     */
    static Load start(
            Intents intents,
            int clients,
            Client client,
            Answers answers,
            BooleanSupplier holdBack,
            SplittableRandom random) {
        Load load = new Load(intents, clients, client, answers, holdBack);
        for (int number = 1; number <= clients; number++) {
            int me = number;
            SplittableRandom mine = random.split();
            load.threads.execute(() -> load.send(me, mine));
        }
        return load;
    }

    private void send(int me, SplittableRandom random) {
        for (Optional<Intent> next = intents.next(); next.isPresent(); next = intents.next()) {
            Intent intent = next.get();
            Pause.ofMillis(random.nextLong(longestThought.toMillis() + 1));
            while (holdBack.getAsBoolean() && !intents.haveEnded()) {
                Pause.ofMillis(HELD_BACK_MILLIS);
            }
            send(me, intent, random);
            answers.closed(intent);
        }
    }

    /** Sends an intent once, or twice at the same moment. */
    private void send(int me, Intent intent, SplittableRandom random) {
        CountDownLatch sameMoment = new CountDownLatch(1);
        List<Future<?>> requests = new ArrayList<>();
        for (int copy = 0; copy < (intent.twice() ? 2 : 1); copy++) {
            boolean twin = copy > 0;
            SplittableRandom own = random.split();
            requests.add(threads.submit(() -> {
                sameMoment.await();
                client.order(intent, me, twin, own);
                return null;
            }));
        }
        sameMoment.countDown();
        for (Future<?> request : requests) {
            Futures.await(request);
        }
    }

    private static Thread daemon(Runnable client) {
        Thread thread = new Thread(client, "client");
        thread.setDaemon(true);
        return thread;
    }

    /** Lets no more intents begin. Those under way are not interrupted, and end with the process at the latest. */
    @Override
    public void close() {
        intents.end();
    }
}
