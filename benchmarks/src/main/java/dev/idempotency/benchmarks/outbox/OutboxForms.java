package dev.idempotency.benchmarks.outbox;

import dev.idempotency.OutboxEvent;
import dev.idempotency.benchmarks.database.BenchDatabase;
import dev.idempotency.benchmarks.database.Effects;
import dev.idempotency.benchmarks.database.TimeOrderedIds;
import dev.idempotency.benchmarks.harness.Metric;
import dev.idempotency.benchmarks.harness.Sample;
import dev.idempotency.jdbi.JdbiOutboxStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.kafka.KafkaOutboxPublisher;
import dev.idempotency.outbox.Outbox;
import dev.idempotency.outbox.OutboxRelay;
import dev.idempotency.spi.OutboxPublisher;
import dev.idempotency.testkit.service.EmbeddedKafka;
import dev.idempotency.transaction.TransactionLimits;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;

/** Events on their way from the table to the broker, in each way there is. Used by one thread. */
final class OutboxForms {
    static final String TOPIC = "bench.outbox";
    static final Metric EVENTS = Metric.rate("events");
    static final Metric RELAY_LOG = new Metric("log written by the relay", "bytes/event");
    static final Metric WHOLE_LOG = new Metric("log written by append and relay", "bytes/event");

    private static final int APPENDED_AT_ONCE = 1_000;
    private static final Duration DRAIN = Duration.ofMinutes(2);
    private static final String PAYLOAD = "x".repeat(200);

    private final TimeOrderedIds ids = new TimeOrderedIds();
    private final BenchDatabase database;
    private final String bootstrapServers;
    private final JdbiOutboxStore store;
    private final JdbiTransactionRunner transactions;
    private final Outbox outbox;

    /** Builds the relay of one mode. */
    @FunctionalInterface
    interface Mode {
        OutboxRelay relay(DataSource dataSource, OutboxPublisher publisher);
    }

    OutboxForms(BenchDatabase database, EmbeddedKafka kafka) {
        this.database = database;
        this.bootstrapServers = kafka.bootstrapServers();
        this.store = JdbiOutboxStore.of(database.pool());
        this.transactions = JdbiTransactionRunner.of(database.pool());
        this.outbox = Outbox.of(store);
    }

    static OutboxRelay lease(DataSource dataSource, OutboxPublisher publisher) {
        return OutboxRelay.leasing(JdbiOutboxStore.of(dataSource), publisher).build();
    }

    static OutboxRelay claim(DataSource dataSource, OutboxPublisher publisher) {
        return OutboxRelay.claiming(JdbiOutboxStore.of(dataSource), publisher).build();
    }

    static OutboxRelay lock(DataSource dataSource, OutboxPublisher publisher) {
        return OutboxRelay.locking(JdbiOutboxStore.of(dataSource), JdbiTransactionRunner.of(dataSource), publisher)
                .build();
    }

    /** Empties the table, appends so many events and relays them all; the time includes the marks of the last ones. */
    Sample relayAll(Mode mode, int events) throws InterruptedException {
        clear();
        BigDecimal before = database.walBytes();
        append(events);
        double appended = logSince(before, events);
        database.vacuum("outbox_event");
        before = database.walBytes();
        double seconds = relay(mode, events, true);
        double relayed = logSince(before, events);
        requireNothingLeft();
        return Sample.of(EVENTS, events / seconds).and(RELAY_LOG, relayed).and(WHOLE_LOG, appended + relayed);
    }

    private double logSince(BigDecimal before, int events) {
        return database.walBytes().subtract(before).doubleValue() / events;
    }

    /** Relays so many of the events that there are; the time ends when the last of them is acknowledged. */
    Sample relaySome(Mode mode, int events) throws InterruptedException {
        return Sample.of(EVENTS, events / relay(mode, events, false));
    }

    private double relay(Mode mode, int events, boolean withLastMarks) throws InterruptedException {
        try (WatchedPublisher publisher =
                        new WatchedPublisher(KafkaOutboxPublisher.of(producerSettings()), events, id -> {});
                OutboxRelay relay = mode.relay(database.pool(), publisher)) {
            long begin = System.nanoTime();
            relay.start();
            publisher.await();
            long acknowledged = System.nanoTime();
            if (!relay.drain(DRAIN)) {
                throw new IllegalStateException("The relay did not mark what it had sent within " + DRAIN);
            }
            return ((withLastMarks ? System.nanoTime() : acknowledged) - begin) / 1e9;
        }
    }

    void clear() {
        database.jdbi().useHandle(handle -> handle.execute("TRUNCATE outbox_event"));
    }

    void refill(int events) {
        clear();
        append(events);
        database.vacuum("outbox_event");
    }

    /** Appends as an application does. */
    void append(int events) {
        for (int appended = 0; appended < events; appended += APPENDED_AT_ONCE) {
            List<OutboxEvent> batch = new ArrayList<>();
            for (int i = appended; i < Math.min(events, appended + APPENDED_AT_ONCE); i++) {
                batch.add(eventWithoutId(ids.next().toString()));
            }
            transactions.run(TransactionLimits.ofDefaults(), transaction -> outbox.appendAll(transaction, batch));
        }
    }

    /** Fills up to so many rows that wait, by one statement: an application could not append millions in good time. */
    void fillUp(long rows) {
        database.jdbi().useHandle(handle -> {
            long present = handle.createQuery("SELECT count(*) FROM outbox_event WHERE done_at IS NULL")
                    .mapTo(Long.class)
                    .one();
            handle.createUpdate("""
                            INSERT INTO outbox_event (event_id, bucket, topic, msg_key, ordering_key, headers, payload)
                            SELECT uuidv7(), bucket, topic, msg_key, ordering_key, headers, payload
                            FROM outbox_event
                            CROSS JOIN generate_series(1, :copies) AS copies (number)
                            LIMIT :missing
                            """)
                    .bind("copies", (rows - present) / Math.max(1, present) + 1)
                    .bind("missing", Math.max(0, rows - present))
                    .execute();
        });
        database.vacuum("outbox_event");
    }

    void bareTransaction() throws SQLException {
        UUID source = ids.next();
        Effects.inBareTransaction(database.pool(), connection -> Effects.insert(connection, source));
    }

    void transactionWithEvent() throws SQLException {
        UUID source = ids.next();
        transactions.<UUID, SQLException>run(TransactionLimits.ofDefaults(), transaction -> {
            Effects.insert(transaction.unwrap(Connection.class), source);
            return outbox.append(transaction, event(source));
        });
    }

    /** As applications append: the outbox draws the id. */
    private static OutboxEvent eventWithoutId(String key) {
        return OutboxEvent.to(TOPIC)
                .key(key)
                .type("OrderPlaced")
                .payload(PAYLOAD)
                .build();
    }

    static OutboxEvent event(UUID id) {
        return OutboxEvent.to(TOPIC)
                .eventId(id)
                .key(id.toString())
                .type("OrderPlaced")
                .payload(PAYLOAD)
                .build();
    }

    static byte[] payload() {
        return PAYLOAD.getBytes(StandardCharsets.UTF_8);
    }

    /** The time-outs are the longest with which LOCK agrees, and the same for all, the bare producer included. */
    Map<String, Object> producerSettings() {
        return Map.of(
                "bootstrap.servers",
                bootstrapServers,
                "request.timeout.ms",
                5_000,
                "delivery.timeout.ms",
                6_500,
                "max.block.ms",
                1_000L);
    }

    BenchDatabase database() {
        return database;
    }

    JdbiTransactionRunner transactions() {
        return transactions;
    }

    JdbiOutboxStore store() {
        return store;
    }

    TimeOrderedIds ids() {
        return ids;
    }

    void requireNothingLeft() {
        long left = database.jdbi()
                .withHandle(handle -> handle.createQuery("SELECT count(*) FROM outbox_event WHERE done_at IS NULL")
                        .mapTo(Long.class)
                        .one());
        if (left > 0) {
            throw new IllegalStateException(
                    left + " events were relayed and not marked, so this run is no measurement");
        }
    }
}
