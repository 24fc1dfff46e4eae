package dev.idempotency.verification.matrix;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.ConsumerId;
import dev.idempotency.event.Deduplication;
import dev.idempotency.event.EventContext;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.jdbi.JdbiEventStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.kafka.IdempotentConsumer;
import dev.idempotency.testkit.process.Stepped;
import dev.idempotency.testkit.process.Steps;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * A consumer of Kafka, one topic and group per key; its call ends when all events have taken effect and their offset is
 * committed, or after a while: what was committed in the database alone is delivered again, and has to be recognised.
 */
final class ConsumerSubject extends Subject {
    private static final int EVENTS = 4;
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final String EFFECTS = "SELECT count(*) FROM effect WHERE case_key = ?";

    private final Deduplication deduplication;

    ConsumerSubject(Deduplication deduplication) {
        super("consumer " + deduplication.name().toLowerCase(Locale.ROOT).replace('_', ' '), Dialect.POSTGRESQL);
        this.deduplication = deduplication;
    }

    @Override
    List<String> steps(Crash crash) {
        if (crash == Crash.BROKER_CUT) {
            return List.of("event.marked", "event.effect-done", "event.committed");
        }
        List<String> steps = new ArrayList<>();
        if (deduplication.byOffset() && crash.needsProcess()) {
            steps.addAll(List.of("event.assigning", "event.assigned"));
        }
        steps.addAll(List.of("event.marking", "event.marked", "event.effect-done"));
        steps.add(deduplication.byOffset() ? "event.advanced" : "event.confirmed");
        steps.add("event.committing");
        if (crash.needsProcess()) {
            steps.add("event.committed");
        }
        return steps;
    }

    @Override
    Set<String> usualSteps(Crash crash) {
        if (deduplication != Deduplication.EVENT_ID_AND_OFFSET) {
            return crash == Crash.HALT ? Set.of("event.committed") : Set.of();
        }
        return switch (crash) {
            case STOP -> Set.of("event.effect-done");
            case LOST_ANSWER -> Set.of("event.committing");
            case BROKER_CUT -> Set.of("event.committed");
            default -> Set.of();
        };
    }

    @Override
    boolean needsBroker() {
        return true;
    }

    @Override
    Duration bound() {
        return Duration.ofSeconds(60);
    }

    @Override
    void prepare(Trial trial) {
        List<String> ids = new ArrayList<>();
        for (int number = 0; number < EVENTS; number++) {
            ids.add(item(trial.key(), number));
        }
        trial.bench().broker().send(trial.key(), ids);
    }

    private static String item(String key, int number) {
        return key + "-" + number;
    }

    @Override
    Service serve(Site site, Steps steps, Mutant mutant) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(site.url());
        config.setMaximumPoolSize(2);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(2_000);
        config.setInitializationFailTimeout(-1);
        return new Consuming(this, site, steps, new HikariDataSource(config));
    }

    private IdempotentConsumer<String, String> consumer(Consuming of, String key, Steps steps) {
        return IdempotentConsumer.<String, String>builder()
                .consumer(ConsumerId.of("billing"))
                .topics(key)
                .properties(Map.of(
                        "bootstrap.servers",
                        of.site.brokers(),
                        "group.id",
                        key,
                        "session.timeout.ms",
                        "1000",
                        "heartbeat.interval.ms",
                        "300"))
                .deserializers(new StringDeserializer(), new StringDeserializer())
                .store(Stepped.events(JdbiEventStore.of(of.pool), steps))
                .transactions(Stepped.runner(JdbiTransactionRunner.of(of.pool), "event", steps))
                .limits(LIMITS)
                .deduplication(deduplication)
                .handler(TransactionScope.PER_BATCH, (received, context) -> handle(key, context, steps))
                .build();
    }

    private static void handle(String key, EventContext context, Steps steps) throws SQLException {
        Sql.effect(
                context.transaction().unwrap(Connection.class),
                key,
                context.eventId().value(),
                context.derive("charge").value());
        steps.reached("event.effect-done");
    }

    private record Consuming(ConsumerSubject subject, Site site, Steps steps, HikariDataSource pool)
            implements Service {
        @Override
        public Reply call(String key) {
            AtomicBoolean isBuilt = new AtomicBoolean();
            // The look at the databases when it is built is a transaction too, but none of the protocol's.
            Steps ofProtocol = step -> {
                if (isBuilt.get()) {
                    steps.reached(step);
                }
            };
            try (IdempotentConsumer<String, String> consumer = subject.consumer(this, key, ofProtocol);
                    Admin admin = Admin.create(Map.of("bootstrap.servers", site.brokers()))) {
                isBuilt.set(true);
                consumer.start();
                long deadline = System.nanoTime() + PATIENCE.toNanos();
                int effects = Sql.number(site.outside(), EFFECTS, key);
                while ((effects < EVENTS || committed(admin, key) < EVENTS) && System.nanoTime() < deadline) {
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
                    effects = Sql.number(site.outside(), EFFECTS, key);
                }
                long committed = committed(admin, key);
                return effects >= EVENTS && committed == EVENTS
                        ? new Reply(Reply.Kind.EXECUTED, "all have taken effect")
                        : Reply.again(
                                effects + " of " + EVENTS + " have taken effect, " + committed + " are committed");
            }
        }

        /** The group's offset; -1 if the broker does not tell. */
        private static long committed(Admin admin, String key) {
            try {
                OffsetAndMetadata offset = admin.listConsumerGroupOffsets(key)
                        .partitionsToOffsetAndMetadata()
                        .get(2, TimeUnit.SECONDS)
                        .get(new TopicPartition(key, 0));
                return offset == null ? 0 : offset.offset();
            } catch (ExecutionException | TimeoutException e) {
                return -1;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return -1;
            }
        }

        @Override
        public void close() {
            pool.close();
        }
    }

    @Override
    Optional<String> check(Trial trial) {
        long committed = trial.bench().broker().committed(trial.key());
        for (int number = 0; number < EVENTS; number++) {
            int effects = Sql.effects(trial.database(), trial.key(), item(trial.key(), number));
            if (effects > 1) {
                return Optional.of("event " + number + " took effect " + effects + " times");
            }
            if (effects == 0 && number < committed) {
                return Optional.of("the offset of event " + number + " is committed, and it had no effect");
            }
        }
        return Optional.empty();
    }

    @Override
    Optional<String> checkSettled(Trial trial, Reply last) {
        int effects = Sql.number(trial.database(), EFFECTS, trial.key());
        long committed = trial.bench().broker().committed(trial.key());
        return effects == EVENTS && committed == EVENTS
                ? Optional.empty()
                : Optional.of(effects + " of " + EVENTS + " have taken effect, " + committed + " are committed");
    }
}
