package dev.idempotency.outbox;

import dev.idempotency.shutdown.Deadline;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Phase;
import dev.idempotency.shutdown.Registration;
import dev.idempotency.spi.ClaimingOutboxStore;
import dev.idempotency.spi.LeasedOutboxStore;
import dev.idempotency.spi.LockingOutboxStore;
import dev.idempotency.spi.OutboxPublisher;
import dev.idempotency.transaction.TransactionRunner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the events of committed transactions from the outbox to a broker; applications build one per process, or more,
 * and start it.
 *
 * <p>No event is lost at any crash point. An event may be published twice after a crash, a lost lease or an unknown
 * acknowledgment, always with the same {@link dev.idempotency.OutboxEvent#EVENT_ID_HEADER}, by which consumers
 * deduplicate. An outage of the broker gives no event up.
 *
 * <p>There are three ways to relay: {@link #leasing} is the fastest and the one that keeps the order of keys, {@link
 * #claiming} shows each row's state to operators, {@link #locking} needs no lease and no clock. Relays of one outbox must
 * all use the same.
 *
 * <pre>{@code
 * OutboxRelay relay = OutboxRelay.leasing(store, publisher).name("orders").build();
 * relay.start();
 * Outbox outbox = Outbox.builder(store).afterCommit(relay::nudge).build();
 * }</pre>
 *
 * <p>Safe for use by many threads. The relay does not close its store and publisher.
 */
public final class OutboxRelay implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(OutboxRelay.class);

    private static final Duration DEFAULT_CLOSE = Duration.ofSeconds(20);
    private static final Duration SILENCE_MEANS_DOWN = Duration.ofSeconds(30);
    private static final long DRAIN_LOOK_NANOS = Duration.ofMillis(5).toNanos();

    private final RelaySettings settings;
    private final EventSource source;
    private final EventsInFlight inFlight;
    private final RelayCounters counters = new RelayCounters();
    private final RelayLoop loop;
    private final Thread loopThread;
    private final Thread markerThread;
    private final @Nullable GracefulShutdown shutdown;
    private final List<Registration> registrations = new ArrayList<>();
    private final CompletableFuture<Boolean> closed = new CompletableFuture<>();
    private State state = State.NEW;

    private enum State {
        NEW,
        STARTED,
        CLOSING
    }

    OutboxRelay(
            RelaySettings settings,
            Function<Runnable, EventSource> source,
            OutboxPublisher publisher,
            EventsInFlight inFlight,
            @Nullable GracefulShutdown shutdown) {
        this.settings = settings;
        this.inFlight = inFlight;
        this.shutdown = shutdown;
        Signal early = new Signal();
        this.source = source.apply(early::raise);
        this.loop = new RelayLoop(settings, this.source, publisher, inFlight, counters, early);
        this.loopThread = RelayThreads.of(settings.name(), loop::run);
        this.markerThread = RelayThreads.of(settings.name() + "-marks", loop.marker()::run);
    }

    /**
     * Returns a builder for a relay that leases ranges of buckets: one writer's statement per batch, order by key, any
     * number of relays up to {@link LeasedOutboxStore#SLOTS}.
     *
     * @param store the outbox
     * @param publisher the way to the broker
     * @return a builder with the default of every option
     */
    public static LeaseRelayBuilder leasing(LeasedOutboxStore store, OutboxPublisher publisher) {
        return new LeaseRelayBuilder(store, publisher);
    }

    /**
     * Returns a builder for a relay that claims row by row, PENDING to PUBLISHING to PUBLISHED: no order, any number of
     * relays.
     *
     * @param store the outbox
     * @param publisher the way to the broker
     * @return a builder with the default of every option
     */
    public static ClaimRelayBuilder claiming(ClaimingOutboxStore store, OutboxPublisher publisher) {
        return new ClaimRelayBuilder(store, publisher);
    }

    /**
     * Returns a builder for a relay that keeps rows locked in one short transaction while they are sent: a crash frees them
     * at once, no order, any number of relays, small loads.
     *
     * <p>While the broker is slow, each relay keeps one connection and one transaction open, and the database cannot clean
     * up behind it.
     *
     * @param store the outbox
     * @param runner of transactions in the outbox's database
     * @param publisher the way to the broker
     * @return a builder with the default of every option
     */
    public static LockRelayBuilder locking(
            LockingOutboxStore store, TransactionRunner runner, OutboxPublisher publisher) {
        return new LockRelayBuilder(store, runner, publisher);
    }

    /**
     * Starts the relay's threads and returns.
     *
     * <p>The store need not be there yet: the relay tries until it is.
     *
     * @throws IllegalStateException if it was started or closed before, or the application's shutdown has begun
     */
    public void start() {
        synchronized (registrations) {
            if (state != State.NEW) {
                throw new IllegalStateException(
                        "The relay " + settings.name() + " was started or closed before: build another one");
            }
            if (shutdown != null) {
                joinShutdown(shutdown);
            }
            state = State.STARTED;
            source.start();
            if (source.marksBeside()) {
                markerThread.start();
            }
            loopThread.start();
        }
        log.info("Relay {}: started as {}", settings.name(), settings.owner());
    }

    private void joinShutdown(GracefulShutdown applicationShutdown) {
        String label = "outbox relay " + settings.name();
        registrations.add(applicationShutdown.on(Phase.STOP_INTAKE, label, deadline -> loop.stopIntake()));
        registrations.add(applicationShutdown.on(Phase.DRAIN, label, this::drainOrFail));
        registrations.add(applicationShutdown.on(Phase.CLOSE, label, deadline -> close(deadline.remaining())));
    }

    private void drainOrFail(Deadline deadline) {
        if (!drain(deadline.remaining())) {
            throw new IllegalStateException(inFlight.count() + " events are on their way without an answer; they are"
                    + " sent again once their lease has ended");
        }
    }

    /**
     * Makes the relay look for events now instead of at the end of its wait. Cheap, never blocks; does nothing before
     * the start and after the close.
     */
    public void nudge() {
        loop.nudge();
    }

    /**
     * Publishes no events of this topic until {@link #resume}; what is on its way is finished. Holds for this relay
     * only.
     *
     * @param topic the topic
     */
    public void pause(String topic) {
        loop.topics().pause(topic);
    }

    /**
     * Ends a {@link #pause}.
     *
     * @param topic the topic
     */
    public void resume(String topic) {
        loop.topics().resume(topic);
        loop.nudge();
    }

    /**
     * Takes nothing new from now on, gives back what was taken and not sent, and waits until everything sent is answered
     * and marked.
     *
     * <p>Cannot be undone; {@link #close} follows.
     *
     * @param timeout how long to wait; zero to look only
     * @return true if nothing is on its way any more; false after the time-out: such events are published again by
     *     whoever takes them once their lease has ended, unless their answer still comes
     */
    public boolean drain(Duration timeout) {
        long end = System.nanoTime() + timeout.toNanos();
        loop.stopIntake();
        while (!isDrained()) {
            long left = end - System.nanoTime();
            if (left <= 0 || Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(this, Math.min(left, DRAIN_LOOK_NANOS));
        }
        return true;
    }

    private boolean isDrained() {
        return loop.isDrained() || (!loopThread.isAlive() && inFlight.count() == 0);
    }

    /**
     * Drains the relay, ends its threads and gives back its leases.
     *
     * @param timeout how long to wait for what is on its way; ending the threads may take a statement's time longer
     * @return true if nothing was left on its way; every caller gets the same answer
     */
    public boolean close(Duration timeout) {
        synchronized (registrations) {
            if (state == State.CLOSING) {
                return closed.join();
            }
            state = State.CLOSING;
        }
        boolean drained = drain(timeout);
        try {
            loop.stop();
            loop.marker().stop();
            RelayThreads.join(loopThread, DEFAULT_CLOSE);
            RelayThreads.join(markerThread, DEFAULT_CLOSE);
            registrations.forEach(Registration::close);
            source.stop(DEFAULT_CLOSE);
            log.info("Relay {}: closed{}", settings.name(), drained ? "" : " with events on their way");
        } catch (RuntimeException e) {
            log.warn(
                    "Relay {}: its leases were not given back and end by themselves: {}",
                    settings.name(),
                    e.toString());
        } finally {
            closed.complete(drained);
        }
        return drained;
    }

    /** Closes the relay, waiting at most 20 s for what is on its way. */
    @Override
    public void close() {
        close(DEFAULT_CLOSE);
    }

    /**
     * Tells how the relay fares; cheap enough for every request of a health check.
     *
     * @return the health now
     */
    public RelayHealth health() {
        RelayLoop.Health health = loop.health();
        Set<String> failingTopics = loop.topics().failing();
        return new RelayHealth(
                status(health, failingTopics),
                health.sinceLastPass(),
                failingTopics,
                Optional.ofNullable(health.lastError()));
    }

    private RelayHealth.Status status(RelayLoop.Health health, Set<String> failingTopics) {
        synchronized (registrations) {
            if (state == State.NEW) {
                return RelayHealth.Status.NEW;
            }
            if (state == State.CLOSING) {
                return RelayHealth.Status.STOPPED;
            }
        }
        if (!loopThread.isAlive() || (source.marksBeside() && !markerThread.isAlive())) {
            return RelayHealth.Status.DOWN;
        }
        if (loop.brokerFails()) {
            return RelayHealth.Status.DEGRADED;
        }
        if (health.sinceLastPass().compareTo(SILENCE_MEANS_DOWN) > 0) {
            return RelayHealth.Status.DOWN;
        }
        return failingTopics.isEmpty() ? RelayHealth.Status.UP : RelayHealth.Status.DEGRADED;
    }

    /**
     * Tells what the relay has done since its start.
     *
     * @return the counters now
     */
    public RelayStatistics statistics() {
        return counters.snapshot(inFlight);
    }

    /** Returns a text for logs: the name under which the relay claims. */
    @Override
    public String toString() {
        return "OutboxRelay[" + settings.owner() + "]";
    }
}
