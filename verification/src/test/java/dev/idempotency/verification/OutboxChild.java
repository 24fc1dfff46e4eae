package dev.idempotency.verification;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.OutboxEvent;
import dev.idempotency.jdbi.JdbiOutboxStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.kafka.KafkaOutboxPublisher;
import dev.idempotency.outbox.Outbox;
import dev.idempotency.outbox.OutboxRelay;
import dev.idempotency.outbox.RelayBuilder;
import dev.idempotency.spi.ClaimingOutboxStore;
import dev.idempotency.spi.LeasedOutboxStore;
import dev.idempotency.spi.LockingOutboxStore;
import dev.idempotency.spi.OutboxPublisher;
import dev.idempotency.testkit.process.CrashPoints;
import dev.idempotency.testkit.process.Stepped;
import dev.idempotency.testkit.process.Steps;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;

/**
 * The service of the outbox's crash tests: as a child process it appends or relays until it dies at one of its steps; in
 * the test's own process it is the relay that comes after.
 */
final class OutboxChild {
    /** Long enough for the publisher's time-outs below, short enough for a test to wait for its end. */
    static final Duration LEASE = Duration.ofSeconds(8);

    private OutboxChild() {}

    /** Arguments: append, URL, topic, number of events; or relay, URL, mode, bootstrap servers. */
    public static void main(String[] arguments) throws InterruptedException {
        CrashPoints points = CrashPoints.ofThisProcess();
        HikariDataSource dataSource = pool(arguments[1]);
        if (arguments[0].equals("append")) {
            append(dataSource, arguments[2], Integer.parseInt(arguments[3]), points);
            return;
        }
        relay(dataSource, arguments[2], publisher(arguments[3]), points).start();
        // The relay's threads are daemons; the parent decides when this process ends.
        new CountDownLatch(1).await();
    }

    static HikariDataSource pool(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(6);
        return new HikariDataSource(config);
    }

    /** Appends events in one business transaction that also writes a row per event. */
    static void append(DataSource dataSource, String topic, int events, Steps steps) {
        Outbox outbox = Outbox.of(Stepped.outbox(LeasedOutboxStore.class, JdbiOutboxStore.of(dataSource), steps));
        TransactionRunner runner = Stepped.runner(JdbiTransactionRunner.of(dataSource), "business", steps);
        runner.run(TransactionLimits.ofDefaults(), transaction -> {
            List<OutboxEvent> batch = new ArrayList<>();
            for (int number = 0; number < events; number++) {
                batch.add(OutboxEvent.to(topic)
                        .key("key-" + number % 3)
                        .payload(Integer.toString(number))
                        .build());
            }
            return outbox.appendAll(transaction, batch);
        });
    }

    static OutboxPublisher publisher(String bootstrapServers) {
        return KafkaOutboxPublisher.of(Map.of(
                "bootstrap.servers",
                bootstrapServers,
                "request.timeout.ms",
                1_000,
                "delivery.timeout.ms",
                2_000,
                "max.block.ms",
                1_000L));
    }

    static OutboxRelay relay(DataSource dataSource, String mode, OutboxPublisher publisher, Steps steps) {
        JdbiOutboxStore store = JdbiOutboxStore.of(dataSource);
        OutboxPublisher stepped = Stepped.publisher(publisher, steps);
        RelayBuilder<?> builder = switch (mode) {
            case "lease" ->
                OutboxRelay.leasing(Stepped.outbox(LeasedOutboxStore.class, store, steps), stepped)
                        .lease(LEASE);
            case "claim" ->
                OutboxRelay.claiming(Stepped.outbox(ClaimingOutboxStore.class, store, steps), stepped)
                        .lease(LEASE);
            case "lock" ->
                OutboxRelay.locking(
                        Stepped.outbox(LockingOutboxStore.class, store, steps),
                        Stepped.runner(JdbiTransactionRunner.of(dataSource), "relay", steps),
                        stepped);
            default -> throw new IllegalArgumentException("There is no mode " + mode);
        };
        return builder.poll(Duration.ofMillis(10), Duration.ofMillis(100)).build();
    }
}
