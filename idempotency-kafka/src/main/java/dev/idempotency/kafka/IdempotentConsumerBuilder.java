package dev.idempotency.kafka;

import dev.idempotency.ConsumerId;
import dev.idempotency.KeyDerivation;
import dev.idempotency.event.DeadLetters;
import dev.idempotency.event.Deduplication;
import dev.idempotency.event.Event;
import dev.idempotency.event.EventBatchHandler;
import dev.idempotency.event.EventProcessor;
import dev.idempotency.event.FailedEventException;
import dev.idempotency.event.ProcessingListener;
import dev.idempotency.event.RetryPolicy;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.shutdown.GracefulShutdown;
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
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;

/**
 * Collects the options of an {@link IdempotentConsumer}. Not thread-safe.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 */
public final class IdempotentConsumerBuilder<K, V> {
    private @Nullable ConsumerId consumer;
    private Subscription subscription = new Subscription(List.of(), null);
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
    private @Nullable DeadLetters deadLetters;
    private @Nullable Duration markRetention;
    private @Nullable KeyDerivation keys;
    private TransactionLimits limits = TransactionLimits.ofDefaults();
    private @Nullable GracefulShutdown shutdown;
    private @Nullable ProcessingListener listener;
    private Duration betweenLooks = TopicIds.BETWEEN_LOOKS;
    private LongSupplier nanos = System::nanoTime;

    IdempotentConsumerBuilder() {}

    /**
     * Sets the consumer's name in the database. Required.
     *
     * @param consumer the explicit, stable name; also the group id where the properties have none
     * @return this builder
     */
    public IdempotentConsumerBuilder<K, V> consumer(ConsumerId consumer) {
        this.consumer = Objects.requireNonNull(consumer, "consumer");
        return this;
    }

    /**
     * Sets the topics. This or {@link #topicPattern} is required; the last one counts.
     *
     * @param topics at least one name
     * @return this builder
     */
    public IdempotentConsumerBuilder<K, V> topics(String... topics) {
        this.subscription = new Subscription(List.of(topics), null);
        return this;
    }

    /**
     * Sets the topics by their names' form, also those that are created later: they are found within {@code
     * metadata.max.age.ms}. This or {@link #topics} is required; the last one counts.
     *
     * @param pattern what the whole name of a topic must match
     * @return this builder
     */
    public IdempotentConsumerBuilder<K, V> topicPattern(Pattern pattern) {
        this.subscription = new Subscription(List.of(), Objects.requireNonNull(pattern, "pattern"));
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
    public IdempotentConsumerBuilder<K, V> properties(Map<String, ?> properties) {
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
    public IdempotentConsumerBuilder<K, V> deserializers(
            Deserializer<? extends K> key, Deserializer<? extends V> value) {
        this.decoder = new Decoder<>(Objects.requireNonNull(key, "key"), Objects.requireNonNull(value, "value"));
        return this;
    }

    /**
     * Sets where marks, offsets and parked records are kept. Required.
     *
     * @param store the store
     * @return this builder
     */
    public IdempotentConsumerBuilder<K, V> store(ProcessedEventStore store) {
        this.store = Objects.requireNonNull(store, "store");
        return this;
    }

    /**
     * Sets what opens and ends transactions. Required; it must use the database of the store.
     *
     * @param transactions the runner
     * @return this builder
     */
    public IdempotentConsumerBuilder<K, V> transactions(TransactionRunner transactions) {
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
    public IdempotentConsumerBuilder<K, V> handler(TransactionScope scope, RecordHandler<K, V> handler) {
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
    public IdempotentConsumerBuilder<K, V> batchHandler(EventBatchHandler<ConsumerRecord<K, V>> handler) {
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
    public IdempotentConsumerBuilder<K, V> eventIds(EventIdExtractor eventIds) {
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
    public IdempotentConsumerBuilder<K, V> missingEventId(MissingEventId policy) {
        this.missingEventId = Objects.requireNonNull(policy, "policy");
        return this;
    }

    /**
     * Sets by what duplicates are recognised.
     *
     * @param deduplication both by default, or event ids alone where the store keeps no offsets
     * @return this builder
     */
    public IdempotentConsumerBuilder<K, V> deduplication(Deduplication deduplication) {
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
    public IdempotentConsumerBuilder<K, V> retry(RetryPolicy retry) {
        this.retry = Objects.requireNonNull(retry, "retry");
        return this;
    }

    /**
     * Sets what is done about a record that has failed as often as it may.
     *
     * @param givingUp {@link GivingUp#PARK} by default where the store can park, else {@link GivingUp#HOLD}
     * @return this builder
     */
    public IdempotentConsumerBuilder<K, V> givingUp(GivingUp givingUp) {
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
    public IdempotentConsumerBuilder<K, V> maxStarts(int maxStarts) {
        this.maxStarts = maxStarts;
        return this;
    }

    /**
     * Sets how parked records are announced on a topic for dead letters.
     *
     * @param deadLetters the dead letters, in an outbox of the store's database; none by default
     * @return this builder
     */
    public IdempotentConsumerBuilder<K, V> deadLetters(DeadLetters deadLetters) {
        this.deadLetters = Objects.requireNonNull(deadLetters, "deadLetters");
        return this;
    }

    /**
     * Says how long marks are kept by {@link dev.idempotency.event.MarkCleanUp}; compared at the start with how
     * long the topics keep their records, because a record that outlives its mark and is delivered again runs again.
     *
     * @param age the age at which marks are deleted; by default nothing is compared
     * @return this builder
     * @throws IllegalArgumentException if it is shorter than a minute
     */
    public IdempotentConsumerBuilder<K, V> markRetention(Duration age) {
        if (age.compareTo(Duration.ofMinutes(1)) < 0) {
            throw new IllegalArgumentException("The option markRetention must be at least 1 minute, but is " + age);
        }
        this.markRetention = age;
        return this;
    }

    /**
     * Sets how the keys of outgoing calls are derived.
     *
     * @param keys the application's derivation; by default one under the consumer's name
     * @return this builder
     */
    public IdempotentConsumerBuilder<K, V> keys(KeyDerivation keys) {
        this.keys = Objects.requireNonNull(keys, "keys");
        return this;
    }

    /**
     * Sets the bounds of waits in the transactions.
     *
     * @param limits the bounds; {@link TransactionLimits#ofDefaults()} by default
     * @return this builder
     */
    public IdempotentConsumerBuilder<K, V> limits(TransactionLimits limits) {
        this.limits = Objects.requireNonNull(limits, "limits");
        return this;
    }

    /**
     * Joins a shutdown: the consumer then stops in its phases by itself, before the pool is closed.
     *
     * @param shutdown the application's shutdown
     * @return this builder
     */
    public IdempotentConsumerBuilder<K, V> shutdown(GracefulShutdown shutdown) {
        this.shutdown = Objects.requireNonNull(shutdown, "shutdown");
        return this;
    }

    /**
     * Sets who is told how each transaction went: {@link ConsumerMeters}, or a listener of the application's own.
     *
     * @param listener the listener; none by default
     * @return this builder
     */
    public IdempotentConsumerBuilder<K, V> listener(ProcessingListener listener) {
        this.listener = Objects.requireNonNull(listener, "listener");
        return this;
    }

    IdempotentConsumerBuilder<K, V> betweenLooksAtTopics(Duration pause) {
        this.betweenLooks = pause;
        return this;
    }

    IdempotentConsumerBuilder<K, V> nanos(LongSupplier nanos) {
        this.nanos = nanos;
        return this;
    }

    /**
     * Checks the options and makes the consumer known to the store.
     *
     * @return the consumer, not started
     * @throws IllegalStateException if a required option is missing, the store cannot do what is asked, or store,
     *     transactions and the outbox of dead letters are not in one database
     * @throws IllegalArgumentException if an option is out of range
     * @throws dev.idempotency.StoreUnavailableException if the store cannot be reached
     */
    public IdempotentConsumer<K, V> build() {
        ConsumerId theConsumer = require("consumer", consumer);
        ProcessedEventStore theStore = require("store", store);
        if (subscription.isEmpty()) {
            throw new IllegalStateException("The option topics is required: name at least one topic, or a pattern");
        }
        if (deadLetters != null && subscription.includes(deadLetters.topic())) {
            throw new IllegalStateException("The dead letters go to " + deadLetters.topic()
                    + ", which this consumer consumes: a record that is parked would come back as its own dead letter,"
                    + " for ever. Name another topic, or consume it under another consumer id");
        }
        Map<String, Object> effective = effectiveProperties();
        EventProcessor<Received> processor = processor(theConsumer, theStore);
        Settings settings = new Settings(
                theConsumer.value(),
                subscription,
                eventIds,
                missingEventId != null ? missingEventId : defaultMissingEventId(processor.deduplication()),
                retry,
                givingUp(theStore),
                limits,
                markRetention,
                StartupChecks.processingBudget(effective),
                StartupChecks.number(effective, ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 500),
                "process " + ProcessHandle.current().pid(),
                betweenLooks,
                nanos);
        return new IdempotentConsumer<>(settings, processor, effective, shutdown);
    }

    private EventProcessor<Received> processor(ConsumerId theConsumer, ProcessedEventStore theStore) {
        EventProcessor.Builder<Received> builder = EventProcessor.<Received>builder()
                .consumer(theConsumer)
                .store(theStore)
                .transactions(require("transactions", transactions))
                .limits(limits)
                .maxStarts(maxStarts);
        if (deadLetters != null) {
            builder.deadLetters(deadLetters);
        }
        if (keys != null) {
            builder.keys(keys);
        }
        if (listener != null) {
            builder.listener(listener);
        }
        if (givingUp != null && givingUp.keepsKeyOrder()) {
            builder.keepKeyOrder();
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
        boolean parks =
                (givingUp != null && givingUp.parks()) || missingEventId == MissingEventId.PARK || deadLetters != null;
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

    private Map<String, Object> effectiveProperties() {
        Map<String, Object> effective = new HashMap<>(properties);
        if (!effective.containsKey(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG)) {
            throw new IllegalStateException("The option properties must have bootstrap.servers");
        }
        StartupChecks.refuseAutoCommit(effective);
        effective.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        effective.putIfAbsent(
                ConsumerConfig.GROUP_ID_CONFIG, require("consumer", consumer).value());
        effective.putIfAbsent(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        effective.putIfAbsent(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        effective.putIfAbsent(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        effective.remove(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG);
        effective.remove(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG);
        return effective;
    }
}
