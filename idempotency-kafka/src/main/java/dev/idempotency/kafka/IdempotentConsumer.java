package dev.idempotency.kafka;

import dev.idempotency.event.EventProcessor;
import dev.idempotency.event.ReplayOutcome;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Phase;
import dev.idempotency.shutdown.Registration;
import dev.idempotency.spi.ParkedEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Consumes topics so that each event takes effect once: applications build one per consumer id and process, start it, and
 * stop it before their connection pool.
 *
 * <p>Mark, effect and offset are committed in one transaction of the database, and only then is the offset committed to
 * Kafka. A process that is killed anywhere leaves nothing half done, and a consumer that has lost its partitions without
 * knowing it cannot commit.
 *
 * <pre>{@code
 * IdempotentConsumer<String, String> consumer = IdempotentConsumer.<String, String>builder()
 *         .consumer(ConsumerId.of("billing"))
 *         .topics("orders")
 *         .properties(Map.of("bootstrap.servers", "localhost:9092"))
 *         .deserializers(new StringDeserializer(), new StringDeserializer())
 *         .store(store)
 *         .transactions(transactions)
 *         .handler(TransactionScope.PER_BATCH, (record, context) ->
 *                 charge(context.transaction().unwrap(Connection.class), record.value()))
 *         .build();
 * consumer.start();
 * ...
 * consumer.stop(Duration.ofSeconds(20));
 * }</pre>
 *
 * <p>One thread polls and runs the handler. Safe for use by many threads.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 */
@SuppressWarnings("UnusedTypeParameter") // they say in an application's fields what its handler gets
public final class IdempotentConsumer<K, V> implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(IdempotentConsumer.class);

    /** How long {@link #close()} waits. */
    private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(20);

    private final Settings settings;
    private final EventProcessor<Received> processor;
    private final Map<String, Object> properties;
    private final @Nullable GracefulShutdown shutdown;
    private final List<Registration> registrations = new ArrayList<>();
    private @Nullable ConsumerLoop loop;
    private @Nullable Thread thread;
    private boolean stopped;

    IdempotentConsumer(
            Settings settings,
            EventProcessor<Received> processor,
            Map<String, Object> properties,
            @Nullable GracefulShutdown shutdown) {
        this.settings = settings;
        this.processor = processor;
        this.properties = properties;
        this.shutdown = shutdown;
    }

    /**
     * Returns a builder with the default of every option.
     *
     * @param <K> the type of keys
     * @param <V> the type of values
     * @return a new builder
     */
    public static <K, V> IdempotentConsumerBuilder<K, V> builder() {
        return new IdempotentConsumerBuilder<>();
    }

    /**
     * Joins the group and begins to process, on a thread of its own.
     *
     * @throws IllegalStateException if it was started or stopped before
     * @throws org.apache.kafka.common.KafkaException if a setting is wrong; nothing is left running
     */
    public synchronized void start() {
        if (loop != null || stopped) {
            throw new IllegalStateException(
                    "The consumer " + settings.name() + " was started or stopped before: build another one");
        }
        TopicIds topicIds = new TopicIds(properties, settings.betweenLooks());
        ConsumerLoop started;
        try {
            started = new ConsumerLoop(
                    settings,
                    processor,
                    new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer()),
                    topicIds);
        } catch (RuntimeException e) {
            topicIds.close();
            throw e;
        }
        StartupChecks.warnings(properties, settings.limits()).forEach(log::warn);
        loop = started;
        Thread polling = new Thread(started, "idempotent-consumer-" + settings.name());
        thread = polling;
        if (shutdown != null) {
            join(shutdown, started);
        }
        polling.start();
    }

    private void join(GracefulShutdown joined, ConsumerLoop started) {
        String name = "consumer " + settings.name();
        registrations.add(joined.on(Phase.STOP_INTAKE, name, deadline -> started.requestStop()));
        registrations.add(joined.on(
                Phase.DRAIN, name, deadline -> require(started.awaitDrained(deadline.remaining()), "finish", started)));
        registrations.add(joined.on(
                Phase.RELEASE,
                name,
                deadline -> require(started.releaseAndAwaitClosed(deadline.remaining()), "close", started)));
    }

    private void require(boolean done, String what, ConsumerLoop started) {
        if (!done) {
            throw new IllegalStateException(
                    "The consumer " + settings.name() + " did not " + what + " in time; in hand: " + started.inHand());
        }
    }

    /**
     * Takes no more records, finishes the transaction in hand, commits, and leaves the group.
     *
     * <p>Nothing is interrupted: a handler that does not return in time is left to roll back, and the consumer closes
     * when it returns. Repeated calls wait for the same end. Called by the handler itself it does not wait.
     *
     * @param timeout how long to wait, 0 or more
     * @return what was finished; drained also if it was never started
     */
    public StopReport stop(Duration timeout) {
        ConsumerLoop present;
        Thread polling;
        synchronized (this) {
            stopped = true;
            present = loop;
            polling = thread;
            registrations.forEach(Registration::close);
            registrations.clear();
        }
        if (present == null || polling == null) {
            return new StopReport(true, Set.of());
        }
        present.requestStop();
        long deadline = System.nanoTime() + timeout.toNanos();
        boolean mayWait = Thread.currentThread() != polling;
        try {
            boolean drained = mayWait && present.awaitDrained(timeout);
            Duration left = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
            boolean closed = present.releaseAndAwaitClosed(drained ? left : Duration.ZERO);
            return new StopReport(drained && closed, present.inHand());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            log.info("Interrupted while waiting for the consumer {} to stop; it goes on stopping", settings.name());
            return new StopReport(false, present.inHand());
        }
    }

    /**
     * Lists records that this consumer has parked, in order of partition and offset.
     *
     * @param limit the most records to return, 1 to 1,000
     * @return the first of them
     * @throws IllegalStateException if the store cannot park
     * @throws dev.idempotency.StoreUnavailableException if the store cannot be reached
     */
    public List<ParkedEvent> findParked(int limit) {
        return processor.findParked(limit);
    }

    /**
     * Lists the parked records that come behind another one, for the next page.
     *
     * @param last the last record of the page before, whether it is still parked or not
     * @param limit the most records to return, 1 to 1,000
     * @return the first of those behind it
     * @throws IllegalStateException if the store cannot park
     * @throws dev.idempotency.StoreUnavailableException if the store cannot be reached
     */
    public List<ParkedEvent> findParkedAfter(ParkedEvent last, int limit) {
        return processor.findParkedAfter(last, limit);
    }

    /**
     * Gives a parked record to the handler under its id, on the calling thread, and removes it in the same transaction.
     *
     * <p>The consumer need not run; if it does, its own thread handles other records meanwhile. A record without an id of
     * its own is handled under its position.
     *
     * @param parked the record, of which only the place counts
     * @return what it came to; unless the record was handled, now or before, it stays parked
     * @throws IllegalStateException if the store cannot park
     */
    public ReplayOutcome replay(ParkedEvent parked) {
        return processor.replay(parked.partition(), parked.offset(), Received::ofParked);
    }

    /**
     * Reads a part of a topic again and gives the handler what is not marked as processed, on the calling thread.
     *
     * <p>Nothing of the group is touched: no offset is moved, no partition is taken from anybody. A record that another process
     * handles at the same time is handled once all the same, but the order between the two is not kept: replay what lies
     * behind the consumer. A record that fails ends the replay of its partition; what came before it is committed, and a
     * repeated call passes over it.
     *
     * @param range which records
     * @return what has become of them
     * @throws IllegalStateException if the consumer does not mark event ids, so that every record would be handled again
     * @throws org.apache.kafka.common.KafkaException if the topic cannot be read; what was handled before is committed
     */
    public TopicReplay replay(TopicRange range) {
        return new RangeReplay(settings, processor, properties).run(range);
    }

    /**
     * Tells for how long records of this consumer's topics can be delivered again, as the brokers keep them now; for {@link
     * dev.idempotency.event.MarkCleanUp.Builder#horizon}. The consumer need not run.
     *
     * @return the longest retention of a topic, with the segment that only goes as a whole; empty if one keeps records for
     *     ever; zero if there is no topic
     * @throws org.apache.kafka.common.KafkaException if the brokers did not tell
     */
    public Optional<Duration> redeliveryHorizon() {
        try (TopicIds topicIds = new TopicIds(properties)) {
            Duration longest = Duration.ZERO;
            for (Optional<Duration> kept : topicIds.retention(
                            settings.subscription().among(topicIds.names()))
                    .values()) {
                if (kept.isEmpty()) {
                    return Optional.empty();
                }
                longest = kept.get().compareTo(longest) > 0 ? kept.get() : longest;
            }
            return Optional.of(longest);
        }
    }

    /**
     * Tells how many records of its partitions the consumer has not been given yet.
     *
     * @return the sum at the last poll, as the client knows it; empty if it knows of none, or the consumer does not run
     */
    public synchronized OptionalLong lag() {
        return loop == null ? OptionalLong.empty() : loop.lag();
    }

    /**
     * Tells which partitions stand still: until a record is tried again, or for good where one can neither be handled nor
     * be given up; and all of them while the database cannot be used.
     *
     * @return the partitions that waited at the last poll
     */
    public synchronized Set<TopicPartition> waiting() {
        return loop == null ? Set.of() : loop.waiting();
    }

    /**
     * Returns the consumer's name.
     *
     * @return the name in the database
     */
    public String name() {
        return settings.name();
    }

    /**
     * Tells whether the consumer processes records or waits for them.
     *
     * @return true from the start until it has stopped or failed
     */
    public synchronized boolean isRunning() {
        return loop != null && !loop.isClosed();
    }

    /**
     * Returns what ended the consumer, if it was not a stop.
     *
     * @return the error; empty while it runs and after an orderly stop
     */
    public synchronized Optional<Throwable> failure() {
        return loop == null ? Optional.empty() : Optional.ofNullable(loop.failure());
    }

    /** Stops and waits for up to 20 s. */
    @Override
    public void close() {
        stop(CLOSE_PATIENCE);
    }
}
