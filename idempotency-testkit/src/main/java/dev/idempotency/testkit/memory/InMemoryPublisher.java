package dev.idempotency.testkit.memory;

import dev.idempotency.spi.OutboxPublisher;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.PublishCallback;
import dev.idempotency.spi.PublishOutcome;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.function.Function;

/**
 * A publisher whose broker is a list in this process, and which answers as a test wants; tests give it to relays.
 *
 * <p>Answers come on the thread that publishes or, for events that were held, on the thread that lets them go. Safe for
 * use by many threads.
 */
public final class InMemoryPublisher implements OutboxPublisher {
    private final Duration deliveryTimeout;
    private final List<OutboxRow> arrived = new ArrayList<>();
    private final Queue<Runnable> held = new ArrayDeque<>();
    private Function<OutboxRow, PublishOutcome> broker = row -> new PublishOutcome.Published();
    private boolean holding;
    private int recoveries;
    private boolean closed;

    private InMemoryPublisher(Duration deliveryTimeout) {
        this.deliveryTimeout = deliveryTimeout;
    }

    /**
     * Returns a publisher that accepts everything at once.
     *
     * @return the publisher, with a delivery time-out of 1 s
     */
    public static InMemoryPublisher create() {
        return create(Duration.ofSeconds(1));
    }

    /**
     * Returns a publisher that accepts everything at once.
     *
     * @param deliveryTimeout what it says its longest delivery takes
     * @return the publisher
     */
    public static InMemoryPublisher create(Duration deliveryTimeout) {
        return new InMemoryPublisher(deliveryTimeout);
    }

    /**
     * Makes the broker answer by this function from now on; what it throws is thrown by the publisher.
     *
     * @param outcomes the answer to each event
     */
    public synchronized void answer(Function<OutboxRow, PublishOutcome> outcomes) {
        broker = outcomes;
    }

    /**
     * Makes the broker answer every event with a failure from now on.
     *
     * @param kind who is to blame
     */
    public void failWith(PublishOutcome.Kind kind) {
        answer(row -> failed(kind));
    }

    /** Makes the broker accept every event from now on. */
    public void recoverBroker() {
        answer(row -> new PublishOutcome.Published());
    }

    /**
     * Returns a failure to answer with.
     *
     * @param kind who is to blame
     * @return the outcome
     */
    public static PublishOutcome failed(PublishOutcome.Kind kind) {
        return new PublishOutcome.Failed(kind, new IllegalStateException("Injected by the test: " + kind));
    }

    /** Keeps answers back from now on, until {@link #letGo()}. */
    public synchronized void hold() {
        holding = true;
    }

    /** Gives the answers that were kept back, in their order, and keeps back no more. */
    public void letGo() {
        while (true) {
            Runnable answer;
            synchronized (this) {
                answer = held.poll();
                if (answer == null) {
                    holding = false;
                    return;
                }
            }
            answer.run();
        }
    }

    /**
     * Returns how many answers are kept back now.
     *
     * @return the number of events handed over and not answered
     */
    public synchronized int held() {
        return held.size();
    }

    /**
     * Returns what the broker has accepted.
     *
     * @return the events in the order of their arrival, duplicates included
     */
    public synchronized List<OutboxRow> arrived() {
        return List.copyOf(arrived);
    }

    /**
     * Returns how often a new client was asked for.
     *
     * @return the number of calls of {@link #recover()}
     */
    public synchronized int recoveries() {
        return recoveries;
    }

    /**
     * Tells whether the publisher was closed.
     *
     * @return true after {@link #close()}
     */
    public synchronized boolean isClosed() {
        return closed;
    }

    @Override
    public void publish(OutboxRow row, PublishCallback callback) {
        PublishOutcome outcome;
        synchronized (this) {
            outcome = broker.apply(row);
            if (outcome instanceof PublishOutcome.Published) {
                arrived.add(row);
            }
            if (holding) {
                held.add(() -> callback.completed(row, outcome));
                return;
            }
        }
        callback.completed(row, outcome);
    }

    @Override
    public Duration deliveryTimeout() {
        return deliveryTimeout;
    }

    @Override
    public synchronized void recover() {
        recoveries++;
    }

    @Override
    public synchronized void close() {
        closed = true;
    }
}
