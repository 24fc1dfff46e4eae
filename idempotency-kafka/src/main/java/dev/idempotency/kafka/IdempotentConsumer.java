package dev.idempotency.kafka;

import dev.idempotency.ConsumerId;
import dev.idempotency.KeyDerivation;
import dev.idempotency.event.Deduplication;
import dev.idempotency.event.Event;
import dev.idempotency.event.EventBatchHandler;
import dev.idempotency.event.EventProcessor;
import dev.idempotency.event.FailedEventException;
import dev.idempotency.event.RetryPolicy;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Phase;
import dev.idempotency.shutdown.Registration;
import dev.idempotency.spi.ParkedEventStore;
import dev.idempotency.spi.ProcessedEventStore;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Deserializer;
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

    private IdempotentConsumer(Builder<K, V> builder, Settings settings, EventProcessor<Received> processor) {
        this.settings = settings;
        this.processor = processor;
        this.properties = builder.effectiveProperties();
        this.shutdown = builder.shutdown;
    }

    /**
     * Returns a builder with the default of every option.
     *
     * @param <K> the type of keys
     * @param <V> the type of values
     * @return a new builder
     */
    public static <K, V> Builder<K, V> builder() {
        return new Builder<>();
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
        TopicIds topicIds = new TopicIds(properties);
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

    /**
     * Collects the options of an {@link IdempotentConsumer}. Not thread-safe.
     *
     * @param <K> the type of keys
     * @param <V> the type of values
     */
    public static final class Builder<K, V> {
        private @Nullable ConsumerId consumer;
        private List<String> topics = List.of();
        private Map<String, Object> properties = Map.of();
        private @Nullable Decoder<K, V> decoder;
        private @Nullable ProcessedEventStore store;
        private @Nullable TransactionRunner transactions;
        private @Nullable RecordHandler<K, V> handler;
        private @Nullable EventBatchHandler<ConsumerRecord<K, V>> batchHandler;
        private TransactionScope scope = TransactionScope.PER_BATCH;
        private EventIdExtractor eventIds = EventIds.ofDefaults();
        private @Nullable MissingEventId missingEventId;
        private @Nullable Deduplication deduplication;
        private RetryPolicy retry = RetryPolicy.ofDefaults();
        private @Nullable GivingUp givingUp;
        private int maxStarts = 3;
        private @Nullable KeyDerivation keys;
        private TransactionLimits limits = TransactionLimits.ofDefaults();
        private @Nullable GracefulShutdown shutdown;
        private LongSupplier nanos = System::nanoTime;

        private Builder() {}

        /**
         * Sets the consumer's name in the database. Required.
         *
         * @param consumer the explicit, stable name; also the group id where the properties have none
         * @return this builder
         */
        public Builder<K, V> consumer(ConsumerId consumer) {
            this.consumer = Objects.requireNonNull(consumer, "consumer");
            return this;
        }

        /**
         * Sets the topics. Required.
         *
         * @param topics at least one name
         * @return this builder
         */
        public Builder<K, V> topics(String... topics) {
            this.topics = List.of(topics);
            return this;
        }

        /**
         * Sets the properties of the Kafka consumer. Required, with {@code bootstrap.servers} at least.
         *
         * <p>Where they say nothing else: {@code group.id} is the consumer's name, {@code auto.offset.reset} is {@code
         * earliest}, {@code isolation.level} is {@code read_committed}. Deserializers are not taken from here.
         *
         * @param properties the properties, as {@link ConsumerConfig} names them
         * @return this builder
         */
        public Builder<K, V> properties(Map<String, ?> properties) {
            this.properties = new HashMap<>(properties);
            return this;
        }

        /**
         * Sets how keys and values are decoded, where a failure can be handled like any other of the record. Required.
         *
         * @param key for keys; not asked about null
         * @param value for values; not asked about null
         * @return this builder
         */
        public Builder<K, V> deserializers(Deserializer<? extends K> key, Deserializer<? extends V> value) {
            this.decoder = new Decoder<>(Objects.requireNonNull(key, "key"), Objects.requireNonNull(value, "value"));
            return this;
        }

        /**
         * Sets where marks, offsets and parked records are kept. Required.
         *
         * @param store the store
         * @return this builder
         */
        public Builder<K, V> store(ProcessedEventStore store) {
            this.store = Objects.requireNonNull(store, "store");
            return this;
        }

        /**
         * Sets what opens and ends transactions. Required; it must use the database of the store.
         *
         * @param transactions the runner
         * @return this builder
         */
        public Builder<K, V> transactions(TransactionRunner transactions) {
            this.transactions = Objects.requireNonNull(transactions, "transactions");
            return this;
        }

        /**
         * Sets what is done about each record. This or {@link #batchHandler} is required.
         *
         * @param scope how much one transaction holds: {@link TransactionScope#PER_BATCH}, one for all records of a poll,
         *     is for work inside the database; {@link TransactionScope#PER_EVENT} is for handlers that call other systems
         * @param handler the handler
         * @return this builder
         */
        public Builder<K, V> handler(TransactionScope scope, RecordHandler<K, V> handler) {
            this.scope = Objects.requireNonNull(scope, "scope");
            this.handler = Objects.requireNonNull(handler, "handler");
            this.batchHandler = null;
            return this;
        }

        /**
         * Sets what is done about the records of one poll together, inside the database only.
         *
         * @param handler the handler; it throws {@link FailedEventException} to name the record at fault
         * @return this builder
         */
        public Builder<K, V> batchHandler(EventBatchHandler<ConsumerRecord<K, V>> handler) {
            this.batchHandler = Objects.requireNonNull(handler, "handler");
            this.handler = null;
            this.scope = TransactionScope.PER_BATCH;
            return this;
        }

        /**
         * Sets where a record's event id is found.
         *
         * @param eventIds the extractor; {@link EventIds#ofDefaults()} by default
         * @return this builder
         */
        public Builder<K, V> eventIds(EventIdExtractor eventIds) {
            this.eventIds = Objects.requireNonNull(eventIds, "eventIds");
            return this;
        }

        /**
         * Sets what is done about a record without an event id.
         *
         * @param policy {@link MissingEventId#FAIL} by default, {@link MissingEventId#POSITION} where {@link
         *     Deduplication#OFFSET} makes ids needless
         * @return this builder
         */
        public Builder<K, V> missingEventId(MissingEventId policy) {
            this.missingEventId = Objects.requireNonNull(policy, "policy");
            return this;
        }

        /**
         * Sets by what duplicates are recognised.
         *
         * @param deduplication both by default, or event ids alone where the store keeps no offsets
         * @return this builder
         */
        public Builder<K, V> deduplication(Deduplication deduplication) {
            this.deduplication = Objects.requireNonNull(deduplication, "deduplication");
            return this;
        }

        /**
         * Sets how often and when a record that has failed is tried again. Meanwhile its partition waits; the others go
         * on.
         *
         * @param retry the policy; {@link RetryPolicy#ofDefaults()} by default
         * @return this builder
         */
        public Builder<K, V> retry(RetryPolicy retry) {
            this.retry = Objects.requireNonNull(retry, "retry");
            return this;
        }

        /**
         * Sets what is done about a record that has failed as often as it may.
         *
         * @param givingUp {@link GivingUp#PARK} by default where the store can park, else {@link GivingUp#HOLD}
         * @return this builder
         */
        public Builder<K, V> givingUp(GivingUp givingUp) {
            this.givingUp = Objects.requireNonNull(givingUp, "givingUp");
            return this;
        }

        /**
         * Sets how many attempts at a record may be started without any of them telling how it ended, before the record is
         * taken for one that ends its process, and given up. It needs {@link Deduplication#OFFSET} or both.
         *
         * @param maxStarts 1 to 1,000; 3 by default
         * @return this builder
         */
        public Builder<K, V> maxStarts(int maxStarts) {
            this.maxStarts = maxStarts;
            return this;
        }

        /**
         * Sets how the keys of outgoing calls are derived.
         *
         * @param keys the application's derivation; by default one under the consumer's name
         * @return this builder
         */
        public Builder<K, V> keys(KeyDerivation keys) {
            this.keys = Objects.requireNonNull(keys, "keys");
            return this;
        }

        /**
         * Sets the bounds of waits in the transactions.
         *
         * @param limits the bounds; {@link TransactionLimits#ofDefaults()} by default
         * @return this builder
         */
        public Builder<K, V> limits(TransactionLimits limits) {
            this.limits = Objects.requireNonNull(limits, "limits");
            return this;
        }

        /**
         * Joins a shutdown: the consumer then stops in its phases by itself, before the pool is closed.
         *
         * @param shutdown the application's shutdown
         * @return this builder
         */
        public Builder<K, V> shutdown(GracefulShutdown shutdown) {
            this.shutdown = Objects.requireNonNull(shutdown, "shutdown");
            return this;
        }

        Builder<K, V> nanos(LongSupplier nanos) {
            this.nanos = nanos;
            return this;
        }

        /**
         * Checks the options and makes the consumer known to the store.
         *
         * @return the consumer, not started
         * @throws IllegalStateException if a required option is missing, or the store cannot do what is asked
         * @throws IllegalArgumentException if an option is out of range
         * @throws dev.idempotency.StoreUnavailableException if the store cannot be reached
         */
        public IdempotentConsumer<K, V> build() {
            ConsumerId theConsumer = require("consumer", consumer);
            ProcessedEventStore theStore = require("store", store);
            if (topics.isEmpty()) {
                throw new IllegalStateException("The option topics is required: name at least one topic");
            }
            Map<String, Object> effective = effectiveProperties();
            EventProcessor<Received> processor = processor(theConsumer, theStore);
            Settings settings = new Settings(
                    theConsumer.value(),
                    topics,
                    eventIds,
                    missingEventId != null ? missingEventId : defaultMissingEventId(processor.deduplication()),
                    retry,
                    givingUp(theStore),
                    processingBudget(effective),
                    number(effective, ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 500),
                    "process " + ProcessHandle.current().pid(),
                    nanos);
            return new IdempotentConsumer<>(this, settings, processor);
        }

        private EventProcessor<Received> processor(ConsumerId theConsumer, ProcessedEventStore theStore) {
            EventProcessor.Builder<Received> builder = EventProcessor.<Received>builder()
                    .consumer(theConsumer)
                    .store(theStore)
                    .transactions(require("transactions", transactions))
                    .limits(limits)
                    .maxStarts(maxStarts);
            if (keys != null) {
                builder.keys(keys);
            }
            if (deduplication != null) {
                builder.deduplication(deduplication);
            }
            Decoder<K, V> theDecoder = require("deserializers", decoder);
            if (batchHandler != null) {
                EventBatchHandler<ConsumerRecord<K, V>> theHandler = batchHandler;
                builder.batchHandler((events, transaction) -> handle(theDecoder, theHandler, events, transaction));
            } else {
                RecordHandler<K, V> theHandler = require("handler or batchHandler", handler);
                builder.handler(scope, (received, context) -> theHandler.handle(decode(theDecoder, received), context));
            }
            return builder.build();
        }

        private static <K, V> ConsumerRecord<K, V> decode(Decoder<K, V> decoder, Received received)
                throws RejectedRecordException {
            RejectedRecordException rejection = received.rejection();
            if (rejection != null) {
                throw rejection;
            }
            return decoder.decode(received.record());
        }

        private static <K, V> void handle(
                Decoder<K, V> decoder,
                EventBatchHandler<ConsumerRecord<K, V>> handler,
                List<Event<Received>> events,
                Transaction transaction)
                throws Exception {
            List<Event<ConsumerRecord<K, V>>> decoded = new ArrayList<>(events.size());
            for (Event<Received> event : events) {
                try {
                    decoded.add(new Event<>(decode(decoder, event.payload()), event.context()));
                } catch (RejectedRecordException | RuntimeException e) {
                    throw new FailedEventException(event, e);
                }
            }
            handler.handle(List.copyOf(decoded), transaction);
        }

        private GivingUp givingUp(ProcessedEventStore theStore) {
            boolean canPark = theStore instanceof ParkedEventStore;
            boolean parks = givingUp == GivingUp.PARK || missingEventId == MissingEventId.PARK;
            if (parks && !canPark) {
                throw new IllegalStateException("Parking needs a store that is a "
                        + ParkedEventStore.class.getSimpleName() + ", but "
                        + theStore.getClass().getName() + " is none: use another store or " + GivingUp.HOLD);
            }
            return givingUp != null ? givingUp : canPark ? GivingUp.PARK : GivingUp.HOLD;
        }

        private static MissingEventId defaultMissingEventId(Deduplication deduplication) {
            return deduplication.byEventId() ? MissingEventId.FAIL : MissingEventId.POSITION;
        }

        private static <T> T require(String option, @Nullable T value) {
            if (value == null) {
                throw new IllegalStateException("The option " + option + " is required");
            }
            return value;
        }

        /** Half of what Kafka grants between two polls. */
        private static Duration processingBudget(Map<String, Object> properties) {
            return Duration.ofMillis(number(properties, ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG, 300_000) / 2);
        }

        private static int number(Map<String, Object> properties, String name, int otherwise) {
            Object value = properties.getOrDefault(name, otherwise);
            try {
                return Integer.parseInt(value.toString().strip());
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException("The property " + name + " must be a number, but is " + value, e);
            }
        }

        private Map<String, Object> effectiveProperties() {
            Map<String, Object> effective = new HashMap<>(properties);
            if (!effective.containsKey(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG)) {
                throw new IllegalStateException("The option properties must have bootstrap.servers");
            }
            Object autoCommit = effective.get(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG);
            if (autoCommit != null && Boolean.parseBoolean(autoCommit.toString())) {
                throw new IllegalArgumentException(
                        "The property enable.auto.commit must not be true: it commits offsets"
                                + " before their records are processed, and what is in hand at a crash would be lost. Remove it");
            }
            effective.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
            effective.putIfAbsent(
                    ConsumerConfig.GROUP_ID_CONFIG,
                    require("consumer", consumer).value());
            effective.putIfAbsent(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
            effective.putIfAbsent(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
            effective.putIfAbsent(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
            effective.remove(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG);
            effective.remove(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG);
            return effective;
        }
    }
}
