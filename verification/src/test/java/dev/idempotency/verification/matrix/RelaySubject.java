package dev.idempotency.verification.matrix;

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
import dev.idempotency.testkit.process.Stepped;
import dev.idempotency.testkit.process.Steps;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.verification.matrix.Topic.Arrived;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/** A relay between the outbox and Kafka; its call ends when nothing of the key is left, or after a while. */
final class RelaySubject extends Subject {
    enum Mode {
        CLAIM,
        LEASE,
        LOCK
    }

    private static final int EVENTS = 3;
    private static final String LEFT = "SELECT count(*) FROM outbox_event WHERE msg_key = ? AND done_at IS NULL";
    /** Longer than the publisher's time-outs; a case never waits for its end, it moves the times in the rows. */
    private static final Duration LEASE = Duration.ofSeconds(8);

    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final Mode mode;

    RelaySubject(Mode mode) {
        super("outbox " + mode.name().toLowerCase(Locale.ROOT), Dialect.POSTGRESQL);
        this.mode = mode;
    }

    @Override
    List<String> steps(Crash crash) {
        List<String> steps = new ArrayList<>();
        if (mode == Mode.LEASE) {
            steps.addAll(List.of("outbox.acquiring", "outbox.acquired"));
        }
        steps.addAll(List.of("outbox.claiming", "outbox.claimed", "outbox.sending", "outbox.sent", "outbox.marking"));
        if (mode == Mode.LOCK) {
            steps.addAll(List.of("outbox.marked", "outbox.committing"));
        }
        if (crash.needsProcess()) {
            steps.add(mode == Mode.LOCK ? "outbox.committed" : "outbox.marked");
        }
        return crash == Crash.BROKER_CUT ? List.of("outbox.claimed", "outbox.sending", "outbox.sent") : steps;
    }

    @Override
    Set<String> usualSteps(Crash crash) {
        return switch (crash) {
            case HALT -> Set.of("outbox.claimed", "outbox.sent", "outbox.marking");
            // A relay that keeps rows locked is freed by the server's bound, and that is long.
            case STOP -> mode == Mode.LOCK ? Set.of() : Set.of("outbox.marking");
            case BROKER_CUT -> Set.of("outbox.sending");
            default -> Set.of("outbox.claimed", "outbox.marking");
        };
    }

    @Override
    boolean needsBroker() {
        return true;
    }

    @Override
    Duration bound() {
        // Two leases, the longest rest after failures of the broker, and a machine that is busy.
        return Duration.ofSeconds(60);
    }

    @Override
    void prepare(Trial trial) {
        Outbox outbox = Outbox.of(JdbiOutboxStore.of(trial.database()));
        JdbiTransactionRunner.of(trial.database()).run(TransactionLimits.ofDefaults(), transaction -> {
            List<OutboxEvent> events = new ArrayList<>();
            for (int number = 0; number < EVENTS; number++) {
                events.add(OutboxEvent.to(Topic.NAME)
                        .key(trial.key())
                        .payload(Integer.toString(number))
                        .build());
            }
            return outbox.appendAll(transaction, events);
        });
    }

    @Override
    Service serve(Site site, Steps steps, Mutant mutant) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(site.url());
        config.setMaximumPoolSize(4);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(2_000);
        config.setInitializationFailTimeout(-1);
        HikariDataSource pool = new HikariDataSource(config);
        OutboxPublisher publisher = KafkaOutboxPublisher.of(Map.of(
                "bootstrap.servers",
                site.brokers(),
                "request.timeout.ms",
                1_000,
                "delivery.timeout.ms",
                2_000,
                "max.block.ms",
                1_000L));
        OutboxRelay relay = relay(pool, Stepped.publisher(publisher, steps), steps);
        relay.start();
        return new Relaying(relay, publisher, pool, site.outside());
    }

    private OutboxRelay relay(DataSource pool, OutboxPublisher publisher, Steps steps) {
        JdbiOutboxStore store = JdbiOutboxStore.of(pool);
        RelayBuilder<?> builder = switch (mode) {
            case LEASE ->
                OutboxRelay.leasing(Stepped.outbox(LeasedOutboxStore.class, store, steps), publisher)
                        .lease(LEASE);
            case CLAIM ->
                OutboxRelay.claiming(Stepped.outbox(ClaimingOutboxStore.class, store, steps), publisher)
                        .lease(LEASE);
            case LOCK ->
                OutboxRelay.locking(
                        Stepped.outbox(LockingOutboxStore.class, store, steps),
                        Stepped.runner(JdbiTransactionRunner.of(pool), "outbox", steps),
                        publisher);
        };
        return builder.poll(Duration.ofMillis(10), Duration.ofMillis(50)).build();
    }

    private record Relaying(OutboxRelay relay, OutboxPublisher publisher, HikariDataSource pool, DataSource outside)
            implements Service {
        @Override
        public Reply call(String key) {
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            int left = Sql.number(outside, LEFT, bytes(key));
            while (left > 0 && System.nanoTime() < deadline) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
                left = Sql.number(outside, LEFT, bytes(key));
            }
            return left == 0
                    ? new Reply(Reply.Kind.EXECUTED, "nothing left")
                    : Reply.again(left + " events are not published yet");
        }

        @Override
        public void close() {
            relay.close(Duration.ofMillis(500));
            publisher.close();
            pool.close();
        }
    }

    private static byte[] bytes(String key) {
        return key.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    void endLeases(Trial trial, boolean isOwnerGone) {
        Sql.update(
                trial.database(),
                "UPDATE outbox_event SET locked_until = now() - interval '1 second' WHERE msg_key = ?"
                        + " AND locked_until > now()",
                bytes(trial.key()));
        if (isOwnerGone) {
            Sql.update(trial.database(), "UPDATE outbox_lease SET expires_at = 'epoch' WHERE expires_at > now()");
            Sql.update(trial.database(), "UPDATE outbox_relay SET expires_at = 'epoch'");
        }
    }

    @Override
    Optional<String> check(Trial trial) {
        // First what is marked: the relay goes on while the topic is read.
        String done = "SELECT event_id FROM outbox_event WHERE msg_key = ? AND status = 'PUBLISHED'";
        List<String> marked = Sql.strings(trial.database(), done, bytes(trial.key()));
        List<Arrived> arrived = trial.bench().broker().topic().arrived(trial.key());
        Map<String, String> contents = new HashMap<>();
        for (Arrived each : arrived) {
            String other = contents.put(each.eventId(), each.value());
            if (other != null && !other.equals(each.value())) {
                return Optional.of("the id " + each.eventId() + " arrived with two contents");
            }
        }
        for (String id : marked) {
            if (!contents.containsKey(id)) {
                return Optional.of("the event " + id + " is marked as published and did not arrive");
            }
        }
        String spoilt = "SELECT count(*) FROM outbox_event WHERE msg_key = ? AND (status = 'DEAD' OR attempts > 0)";
        int blamed = Sql.number(trial.database(), spoilt, bytes(trial.key()));
        return blamed > 0 ? Optional.of(blamed + " events are blamed for a crash") : inOrder(arrived);
    }

    /** Of first appearances, in the mode that promises it. */
    private Optional<String> inOrder(List<Arrived> arrived) {
        Set<String> seen = new HashSet<>();
        List<String> first = new ArrayList<>();
        for (Arrived each : arrived) {
            if (seen.add(each.eventId())) {
                first.add(each.value());
            }
        }
        List<String> sorted = first.stream().sorted().toList();
        return mode == Mode.LEASE && !first.equals(sorted)
                ? Optional.of("the events of one key arrived in the order " + first)
                : Optional.empty();
    }

    @Override
    Optional<String> checkSettled(Trial trial, Reply last) {
        long arrived = trial.bench().broker().topic().arrived(trial.key()).stream()
                .map(Arrived::eventId)
                .distinct()
                .count();
        return arrived == EVENTS
                ? Optional.empty()
                : Optional.of("of " + EVENTS + " committed events " + arrived + " arrived");
    }
}
