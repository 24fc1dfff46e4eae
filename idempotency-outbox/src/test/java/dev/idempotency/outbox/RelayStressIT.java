package dev.idempotency.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.OutboxEvent;
import dev.idempotency.jdbi.JdbiOutboxStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.jdbi.SchemaInstaller;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.testkit.memory.InMemoryPublisher;
import dev.idempotency.testkit.service.EmbeddedPostgreSql;
import dev.idempotency.testkit.service.PostgreSqlDatabase;
import dev.idempotency.transaction.TransactionLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Many writers whose commits come in any order, and a relay that reads all the time: no row is missed and none is sent twice.
 * 200,000 events and more in the full profile.
 */
class RelayStressIT {
    private static final boolean FULL =
            System.getProperty("idempotency.profile", "ci").equals("full");
    private static final Duration DEADLINE = Duration.ofMinutes(10);
    private static final int WRITERS = 32;
    private static final int MOST_AT_ONCE = 20;

    @ParameterizedTest
    @EnumSource
    void manyWritersWithDelayedCommits_noRowIsMissed(RelayScenarios.Mode mode) throws Exception {
        int events = FULL ? 200_000 : 6_000;
        long seed = System.nanoTime();
        HikariConfig config = new HikariConfig();
        Queue<UUID> ids = new ConcurrentLinkedQueue<>();
        AtomicInteger appended = new AtomicInteger();
        AtomicInteger failures = new AtomicInteger();
        InMemoryPublisher publisher = InMemoryPublisher.create(Duration.ofSeconds(4));
        try (PostgreSqlDatabase database = EmbeddedPostgreSql.shared().createDatabase()) {
            config.setDataSource(database.dataSource());
            config.setMaximumPoolSize(WRITERS + 6);
            try (HikariDataSource pool = new HikariDataSource(config)) {
                SchemaInstaller.of(pool).install();
                JdbiOutboxStore store = JdbiOutboxStore.of(pool);
                JdbiTransactionRunner runner = JdbiTransactionRunner.of(pool);
                Outbox outbox = Outbox.of(store);
                try (OutboxRelay relay = relay(mode, store, runner, publisher)) {
                    relay.start();
                    List<Thread> writers = new ArrayList<>();
                    for (int writer = 0; writer < WRITERS; writer++) {
                        Random random = new Random(seed + writer);
                        Thread thread = new Thread(() -> {
                            try {
                                while (appended.get() < events) {
                                    List<UUID> own = runner.run(TransactionLimits.ofDefaults(), transaction -> {
                                        List<UUID> drawn = outbox.appendAll(transaction, batch(random));
                                        LockSupport.parkNanos(random.nextInt(30_000_000));
                                        return drawn;
                                    });
                                    ids.addAll(own);
                                    appended.addAndGet(own.size());
                                }
                            } catch (RuntimeException e) {
                                failures.incrementAndGet();
                            }
                        });
                        writers.add(thread);
                        thread.start();
                    }
                    for (Thread writer : writers) {
                        writer.join(DEADLINE.toMillis());
                    }
                    await().atMost(DEADLINE).until(() -> relay.statistics().published() >= ids.size());
                }
            }
        }
        assertThat(failures).as("writers that failed, seed " + seed).hasValue(0);
        assertThat(publisher.arrived().stream().map(OutboxRow::eventId))
                .as("seed " + seed)
                .hasSize(ids.size())
                .containsExactlyInAnyOrderElementsOf(ids);
    }

    private static List<OutboxEvent> batch(Random random) {
        List<OutboxEvent> batch = new ArrayList<>();
        for (int n = random.nextInt(MOST_AT_ONCE); n >= 0; n--) {
            batch.add(
                    OutboxEvent.to("orders").key("key-" + random.nextInt(1_000)).build());
        }
        return batch;
    }

    private static OutboxRelay relay(
            RelayScenarios.Mode mode,
            JdbiOutboxStore store,
            JdbiTransactionRunner runner,
            InMemoryPublisher publisher) {
        return switch (mode) {
            case LEASE -> OutboxRelay.leasing(store, publisher).build();
            case CLAIM -> OutboxRelay.claiming(store, publisher).build();
            case LOCK -> OutboxRelay.locking(store, runner, publisher).build();
        };
    }
}
