package dev.idempotency.outbox;

import dev.idempotency.spi.OutboxPublisher;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.PublishOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that takes events from their source and hands them to the publisher, many at a time and without waiting
 * for the answers.
 */
final class RelayLoop implements EventSource.Sender {
    private static final Logger log = LoggerFactory.getLogger(RelayLoop.class);

    private static final Duration FIRST_REST = Duration.ofMillis(200);
    private static final Duration LONGEST_REST = Duration.ofSeconds(10);
    private static final long PROGRESS_WAIT_NANOS = Signal.toNanos(1_000);

    private final RelaySettings settings;
    private final EventSource source;
    private final OutboxPublisher publisher;
    private final EventsInFlight inFlight;
    private final RelayCounters counters;
    private final Marker marker;
    private final Topics topics;
    private final Breaker broker;
    private final IdlePace pace;
    private final Signal wake;
    private final Health health;

    private volatile boolean intake = true;
    private volatile boolean stopped;
    private volatile boolean resting;
    private volatile boolean awaitingProgress;
    private volatile boolean publisherLost;

    RelayLoop(
            RelaySettings settings,
            EventSource source,
            OutboxPublisher publisher,
            EventsInFlight inFlight,
            RelayCounters counters,
            Signal wake) {
        this.settings = settings;
        this.source = source;
        this.publisher = publisher;
        this.inFlight = inFlight;
        this.counters = counters;
        this.wake = wake;
        this.marker = new Marker(settings, inFlight, source, counters, this::progress);
        this.topics = new Topics(this::newBreaker);
        this.broker = newBreaker();
        this.pace = new IdlePace(settings.shortestPoll(), settings.longestPoll(), settings.random());
        this.health = new Health(settings.ticker());
    }

    private Breaker newBreaker() {
        return new Breaker(FIRST_REST, LONGEST_REST, settings.random());
    }

    Marker marker() {
        return marker;
    }

    Topics topics() {
        return topics;
    }

    Health health() {
        return health;
    }

    boolean brokerFails() {
        return broker.isOpen();
    }

    /** Ends the present wait, because there is something to send. */
    void nudge() {
        wake.raise();
    }

    /** Takes nothing new from now on; what was taken and not sent is given back by the loop itself. */
    void stopIntake() {
        intake = false;
        wake.raise();
    }

    /** Tells whether intake has stopped and nothing is on its way any more. */
    boolean isDrained() {
        return !intake && resting && inFlight.count() == 0;
    }

    void stop() {
        intake = false;
        stopped = true;
        wake.raise();
    }

    void run() {
        int failures = 0;
        while (!stopped) {
            long waitNanos;
            try {
                waitNanos = pass();
                failures = 0;
            } catch (RuntimeException | Error e) {
                // Whatever a pass throws, the next one begins with what the store says (a relay whose thread has died
                // looks healthy and publishes nothing).
                failures++;
                counters.failedPasses.increment();
                health.passFailed(e);
                log.warn("Relay {}: a pass failed, trying again: {}", settings.name(), e.toString());
                log.debug("The exception", e);
                source.reset();
                waitNanos = RetryPolicy.exponential(FIRST_REST, LONGEST_REST, failures)
                        .toNanos();
            }
            if (waitNanos > 0) {
                wake.await(waitNanos);
            }
        }
        resting = true;
    }

    /** Reads and sends once, and returns how long to wait before the next pass. */
    private long pass() {
        if (!intake) {
            resting = true;
            return PROGRESS_WAIT_NANOS;
        }
        long now = settings.ticker().getAsLong();
        awaitingProgress = true;
        if (publisherLost) {
            if (inFlight.count() > 0) {
                return PROGRESS_WAIT_NANOS;
            }
            publisher.recover();
            publisherLost = false;
        }
        int room = Math.min(Math.min(settings.batchSize(), inFlight.room()), broker.permits(now));
        if (room == 0) {
            long rest = broker.remainingNanos(now);
            return rest > 0 ? rest : PROGRESS_WAIT_NANOS;
        }
        awaitingProgress = false;
        EventSource.Pass pass = source.relay(room, topics.resting(now), this);
        Throwable failure = pass == null ? source.failure() : null;
        if (failure == null) {
            health.passSucceeded();
        } else {
            health.passFailed(failure);
        }
        if (pass == null) {
            return pace.nextWaitNanos();
        }
        if (pass.sent() || pass.more()) {
            pace.busy();
            return 0;
        }
        return Math.min(pace.nextWaitNanos(), pass.nextDueNanos());
    }

    @Override
    public void settle(Fence fence, long untilNanos) {
        marker.settle(fence, untilNanos);
    }

    /**
     * Sends what may be sent. A row that is passed over stays behind no later row of its topic: a topic that rests for one
     * row rests for the rest of the batch, and what stops the whole relay ends the batch, though it may have gone by the
     * next row.
     */
    @Override
    public boolean send(Batch batch) {
        List<OutboxRow> unsent = new ArrayList<>();
        Set<String> restingTopics = new HashSet<>();
        Turn turn = Turn.PASS;
        boolean sent = false;
        for (OutboxRow row : batch.rows()) {
            turn = turn == Turn.END ? Turn.END : awaitTurn(row, batch, restingTopics);
            if (turn == Turn.SEND) {
                send(row, batch.fence());
                sent = true;
            } else {
                unsent.add(row);
            }
        }
        if (!unsent.isEmpty()) {
            counters.givenBack.add(unsent.size());
            source.giveBack(batch, unsent);
        }
        return sent;
    }

    /** What becomes of one row of a batch. */
    private enum Turn {
        SEND,
        PASS,
        END
    }

    private Turn awaitTurn(OutboxRow row, Batch batch, Set<String> restingTopics) {
        String topic = row.event().topic();
        while (true) {
            long now = settings.ticker().getAsLong();
            if (!intake
                    || publisherLost
                    || now - batch.sendUntilNanos() >= 0
                    || broker.permits(now) == 0
                    || !source.isInForce(batch)) {
                return Turn.END;
            }
            if (restingTopics.contains(topic) || !topics.permits(topic, now)) {
                restingTopics.add(topic);
                return Turn.PASS;
            }
            if (!source.maySend(row)) {
                return Turn.PASS;
            }
            awaitingProgress = true;
            if (inFlight.room() > 0) {
                awaitingProgress = false;
                return Turn.SEND;
            }
            wake.await(Signal.until(batch.sendUntilNanos(), now, PROGRESS_WAIT_NANOS));
        }
    }

    private void send(OutboxRow row, Fence fence) {
        Sent event = new Sent(row, fence, settings.ticker().getAsLong());
        inFlight.add(event);
        if (row.damage().isPresent()) {
            completed(event, new PublishOutcome.Failed(PublishOutcome.Kind.RECORD, damaged(row)));
            return;
        }
        broker.sent();
        topics.sent(row.event().topic());
        try {
            publisher.publish(row, (same, outcome) -> completed(event, outcome));
        } catch (RuntimeException | Error e) {
            // Against its contract, so nothing is known of the client; the event may have been sent.
            completed(event, new PublishOutcome.Failed(PublishOutcome.Kind.FATAL, e));
        }
    }

    private static IllegalStateException damaged(OutboxRow row) {
        return new IllegalStateException(
                "The row cannot be read as an event: " + row.damage().orElseThrow());
    }

    /** Called on any thread, once or more per event. */
    private void completed(Sent event, PublishOutcome outcome) {
        if (!event.complete(outcome)) {
            return;
        }
        String topic = event.row().event().topic();
        settings.listener()
                .answered(topic, outcome, Duration.ofNanos(settings.ticker().getAsLong() - event.sentNanos()));
        if (outcome instanceof PublishOutcome.Failed failed) {
            failed(event, failed, topic);
            marker.enqueue(event);
            progress();
        } else {
            boolean probed = broker.isOpen();
            broker.succeeded();
            topics.succeeded(topic);
            marker.enqueue(event);
            if (probed) {
                log.info("Relay {}: the broker answers again", settings.name());
                progress();
            }
        }
    }

    private void failed(Sent event, PublishOutcome.Failed failed, String topic) {
        long now = settings.ticker().getAsLong();
        source.failed(event);
        switch (failed.kind()) {
            case RECORD -> {
                counters.recordFailures.increment();
                broker.notSent();
                topics.answered(topic);
            }
            case TOPIC -> {
                counters.topicFailures.increment();
                broker.notSent();
                topics.failed(topic, now);
            }
            case BROKER -> {
                counters.brokerFailures.increment();
                topics.answered(topic);
                broker.failed(now);
            }
            case FATAL -> {
                counters.fatalFailures.increment();
                topics.answered(topic);
                broker.failed(now);
                publisherLost = true;
            }
        }
        health.publishFailed(failed);
        log.debug(
                "Relay {}: event {} was not published",
                settings.name(),
                event.row().eventId(),
                failed.cause());
    }

    /** Wakes the loop if it waits for an answer or for room; not if it waits for something to send. */
    private void progress() {
        if (awaitingProgress || !intake) {
            wake.raise();
        }
    }

    /** What the loop tells about itself. Thread-safe. */
    static final class Health {
        private final LongSupplier ticker;
        private volatile long lastPassNanos;
        private volatile @Nullable String lastError;

        Health(LongSupplier ticker) {
            this.ticker = ticker;
            this.lastPassNanos = ticker.getAsLong();
        }

        void passSucceeded() {
            lastPassNanos = ticker.getAsLong();
        }

        void passFailed(Throwable e) {
            lastError = e.toString();
        }

        void publishFailed(PublishOutcome.Failed failed) {
            lastError = failed.kind() + ": " + failed.cause();
        }

        Duration sinceLastPass() {
            return Duration.ofNanos(ticker.getAsLong() - lastPassNanos);
        }

        @Nullable
        String lastError() {
            return lastError;
        }
    }
}
