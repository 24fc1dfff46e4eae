package dev.idempotency.benchmarks.kafka;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.benchmarks.database.BenchDatabase;
import dev.idempotency.benchmarks.database.Effects;
import dev.idempotency.event.Deduplication;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.jdbi.JdbiEventStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.kafka.EventIdExtractor;
import dev.idempotency.kafka.EventIds;
import dev.idempotency.kafka.IdempotentConsumer;
import dev.idempotency.kafka.IdempotentConsumerBuilder;
import dev.idempotency.spi.Marks;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** The library's consumer in each of its forms; every run is a new consumer that reads a topic from its beginning. */
final class KafkaForms {
    private static final ConsumerId REPLAYING = ConsumerId.of("bench-replaying");
    private static final Duration STOP = Duration.ofSeconds(30);
    private static final int MARKED_AT_ONCE = 1_000;

    private final Map<String, Object> properties;
    private final BenchDatabase database;
    private final JdbiEventStore store;
    private final JdbiTransactionRunner transactions;
    private final EventIdExtractor eventIds = EventIds.ofDefaults();
    private final AtomicInteger consumers = new AtomicInteger();

    KafkaForms(Map<String, Object> properties, BenchDatabase database) {
        this.properties = properties;
        this.database = database;
        this.store = JdbiEventStore.of(database.pool());
        this.transactions = JdbiTransactionRunner.of(database.pool());
        database.jdbi().useHandle(handle -> handle.execute("""
                CREATE TABLE bench_mark (
                    event_id uuid NOT NULL,
                    consumer_id smallint NOT NULL,
                    PRIMARY KEY (event_id, consumer_id)
                )
                """));
    }

    /** Begins every run with empty tables. */
    void clear() {
        database.jdbi().useHandle(handle -> handle.execute("TRUNCATE bench_effect, bench_mark, processed_event"));
    }

    void requireEffects(int expected) {
        long effects = database.jdbi()
                .withHandle(handle -> handle.createQuery("SELECT count(*) FROM bench_effect")
                        .mapTo(Long.class)
                        .one());
        if (effects != expected) {
            throw new IllegalStateException("There were to be " + expected + " effects, but there are " + effects
                    + ", so this run is no measurement");
        }
    }

    double rowByRow(String topic, int pollRecords, int expected, TransactionScope scope) throws InterruptedException {
        Progress progress = new Progress(expected);
        return seconds(
                builder(topic, pollRecords, newConsumer(), progress)
                        .handler(scope, (record, context) -> {
                            Effects.insert(context.transaction().unwrap(Connection.class), Topics.source(record));
                            progress.handled(1);
                        })
                        .build(),
                progress);
    }

    double batch(String topic, int pollRecords, int expected) throws InterruptedException {
        Progress progress = new Progress(expected);
        return seconds(
                builder(topic, pollRecords, newConsumer(), progress)
                        .batchHandler((events, transaction) -> {
                            List<UUID> sources = events.stream()
                                    .map(event -> Topics.source(event.payload()))
                                    .toList();
                            Effects.insertAll(transaction.unwrap(Connection.class), sources);
                            progress.handled(events.size());
                        })
                        .build(),
                progress);
    }

    /** Reads a topic of which only the last record is new. */
    double replay(String topic, int pollRecords) throws InterruptedException {
        Progress progress = new Progress(1);
        Map<String, Object> group = Map.of("group.id", "replaying-" + consumers.incrementAndGet());
        return seconds(
                // By the ids alone: a consumer that keeps offsets would not even read what it has processed.
                builder(topic, pollRecords, REPLAYING, progress, group)
                        .deduplication(Deduplication.EVENT_ID)
                        .handler(TransactionScope.PER_BATCH, (record, context) -> {
                            Effects.insert(context.transaction().unwrap(Connection.class), Topics.source(record));
                            progress.handled(1);
                        })
                        .build(),
                progress);
    }

    /** How long a consumer takes to stop that has read all there is. */
    double idleStop(String topic) throws InterruptedException {
        CountDownLatch handled = new CountDownLatch(1);
        try (IdempotentConsumer<byte[], byte[]> consumer = builder(topic, 500, newConsumer(), new Progress(1))
                .handler(TransactionScope.PER_BATCH, (record, context) -> handled.countDown())
                .build()) {
            consumer.start();
            if (!handled.await(STOP.toSeconds(), TimeUnit.SECONDS)) {
                throw new IllegalStateException("The consumer handled no record within " + STOP);
            }
            long end = System.nanoTime() + STOP.toNanos();
            while (consumer.lag().orElse(1) != 0) {
                if (System.nanoTime() - end > 0) {
                    throw new IllegalStateException("The consumer did not read all there is within " + STOP);
                }
                Thread.onSpinWait();
            }
            long before = System.nanoTime();
            if (!consumer.stop(STOP).drained()) {
                throw new IllegalStateException("The consumer did not stop within " + STOP);
            }
            return (System.nanoTime() - before) / 1e9;
        }
    }

    /** Marks these events for the consumer that replays, and for the loop by hand. */
    void markAll(List<UUID> ids) {
        store.register(REPLAYING);
        for (int from = 0; from < ids.size(); from += MARKED_AT_ONCE) {
            List<EventId> some = ids.subList(from, Math.min(ids.size(), from + MARKED_AT_ONCE)).stream()
                    .map(EventId::of)
                    .toList();
            transactions.run(TransactionLimits.ofDefaults(), transaction -> {
                Marks marks = store.mark(transaction, REPLAYING, some);
                store.confirm(transaction, marks);
                return marks.fresh().size();
            });
        }
        database.jdbi()
                .useHandle(handle -> handle.execute(
                        "INSERT INTO bench_mark (event_id, consumer_id) SELECT event_id, 1 FROM processed_event"));
        database.vacuum("processed_event");
        database.vacuum("bench_mark");
    }

    private ConsumerId newConsumer() {
        return ConsumerId.of("bench-" + consumers.incrementAndGet());
    }

    private IdempotentConsumerBuilder<byte[], byte[]> builder(
            String topic, int pollRecords, ConsumerId consumer, Progress progress) {
        return builder(topic, pollRecords, consumer, progress, Map.of());
    }

    private IdempotentConsumerBuilder<byte[], byte[]> builder(
            String topic, int pollRecords, ConsumerId consumer, Progress progress, Map<String, Object> more) {
        Map<String, Object> settings = new HashMap<>(properties);
        settings.put("max.poll.records", pollRecords);
        settings.putAll(more);
        return IdempotentConsumer.<byte[], byte[]>builder()
                .consumer(consumer)
                .topics(topic)
                .properties(settings)
                .deserializers(new ByteArrayDeserializer(), new ByteArrayDeserializer())
                .store(store)
                .transactions(transactions)
                .eventIds(record -> {
                    progress.arrived();
                    return eventIds.extract(record);
                });
    }

    private static double seconds(IdempotentConsumer<byte[], byte[]> consumer, Progress progress)
            throws InterruptedException {
        try (consumer) {
            consumer.start();
            double seconds = progress.awaitSeconds();
            if (!consumer.stop(STOP).drained()) {
                throw new IllegalStateException("The consumer did not finish what it had in hand within " + STOP);
            }
            return seconds;
        }
    }
}
