package dev.idempotency.verification.matrix;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.IdempotencyException;
import dev.idempotency.event.Deduplication;
import dev.idempotency.event.Delivery;
import dev.idempotency.event.EventContext;
import dev.idempotency.event.EventProcessor;
import dev.idempotency.event.PartitionDeliveries;
import dev.idempotency.event.ProcessingResult;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.jdbi.JdbiEventStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.PartitionAssignment;
import dev.idempotency.testkit.process.Stepped;
import dev.idempotency.testkit.process.Steps;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;

/** The event engine, one partition per key; its broker is a table that remembers what has been acknowledged. */
final class EventSubject extends Subject {
    /** The third event is the first one, sent again by its producer: by offset alone, it is an event of its own. */
    private static final List<String> EVENTS = List.of("a", "b", "a", "c");

    private static final String ACKNOWLEDGED = "SELECT next_offset FROM acknowledged_offset WHERE case_key = ?";

    private final Deduplication deduplication;
    private final TransactionScope scope;

    EventSubject(Deduplication deduplication, TransactionScope scope, Dialect dialect) {
        super("event " + words(deduplication) + " " + words(scope), dialect);
        this.deduplication = deduplication;
        this.scope = scope;
    }

    private static String words(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    @Override
    List<String> steps(Crash crash) {
        List<String> steps = new ArrayList<>();
        // The assignment holds no connection before and after its own transaction: nothing is there to be cut.
        if (deduplication.byOffset() && crash != Crash.CUT) {
            steps.add("event.assigning");
            if (crash != Crash.LOST_ANSWER) {
                steps.add("event.assigned");
            }
        }
        String last = deduplication.byOffset() ? "event.advanc" : "event.confirm";
        steps.addAll(List.of(
                "event.begun",
                "event.marking",
                "event.marked",
                "event.effect-done",
                last + "ing",
                last + "ed",
                "event.committing"));
        if (crash.needsProcess()) {
            steps.add("event.committed");
        }
        boolean possible = crash != Crash.BROKER_CUT && (dialect() == Dialect.POSTGRESQL || crash != Crash.STOP);
        return possible ? steps : List.of();
    }

    @Override
    Set<String> usualSteps(Crash crash) {
        if (scope == TransactionScope.PER_EVENT && deduplication != Deduplication.EVENT_ID_AND_OFFSET) {
            return Set.of();
        }
        if (crash == Crash.STOP) {
            return scope == TransactionScope.PER_BATCH ? Set.of("event.marked") : Set.of();
        }
        if (crash == Crash.HALT) {
            return scope == TransactionScope.PER_BATCH ? Set.of("event.committing", "event.committed") : Set.of();
        }
        return Set.of("event.marking", "event.effect-done", "event.committing");
    }

    /** In a transaction of its own for each event, the second one: something is committed and something is not. */
    @Override
    int occurrence(String step) {
        return scope == TransactionScope.PER_EVENT && !step.startsWith("event.assign") ? 2 : 1;
    }

    @Override
    Service serve(Site site, Steps all, Mutant mutant) {
        AtomicBoolean isBuilt = new AtomicBoolean();
        // The look at the databases when it is built is a transaction too, but none of the protocol's.
        Steps steps = step -> {
            if (isBuilt.get()) {
                all.reached(step);
            }
        };
        JdbiEventStore store = JdbiEventStore.of(site.dataSource());
        DataSource broker = site.outside();
        EventProcessor<String> processor = EventProcessor.<String>builder()
                .consumer(ConsumerId.of("billing"))
                .store(Stepped.events(store, steps))
                .transactions(Stepped.runner(JdbiTransactionRunner.of(site.dataSource()), "event", steps))
                .limits(mutant.limits(LIMITS))
                .deduplication(deduplication)
                .handler(scope, (key, context) -> handle(key, context, steps))
                .build();
        isBuilt.set(true);
        return key -> {
            try {
                return poll(processor, broker, key);
            } catch (IdempotencyException e) {
                return Reply.again(e);
            }
        };
    }

    private void handle(String key, EventContext context, Steps steps) throws SQLException {
        Sql.effect(
                context.transaction().unwrap(Connection.class),
                key,
                context.eventId().value(),
                context.derive("charge").value());
        steps.reached("event.effect-done");
    }

    /** What a consumer does between two polls: it goes on where the store or the broker says, and acknowledges at the end. */
    private Reply poll(EventProcessor<String> processor, DataSource broker, String key) {
        EventPartition partition = partition(key);
        PartitionAssignment assignment =
                processor.assign(List.of(partition), "matrix").get(0);
        Long stored = assignment.nextOffset();
        long begin = stored == null ? Sql.number(broker, ACKNOWLEDGED, key) : stored;
        if (begin < EVENTS.size()) {
            PartitionDeliveries<String> deliveries =
                    new PartitionDeliveries<>(assignment, deliveries(key, begin), EVENTS.size());
            ProcessingResult<String> result = processor.process(List.of(deliveries), () -> true);
            begin = result.progress().getOrDefault(partition, begin);
            acknowledge(broker, key, begin);
            return begin == EVENTS.size()
                    ? new Reply(Reply.Kind.EXECUTED, "handled " + result.handled())
                    : Reply.again(result.failures());
        }
        acknowledge(broker, key, begin);
        return new Reply(Reply.Kind.REPLAYED, "nothing left");
    }

    private List<Delivery<String>> deliveries(String key, long begin) {
        List<Delivery<String>> deliveries = new ArrayList<>();
        for (int offset = (int) begin; offset < EVENTS.size(); offset++) {
            deliveries.add(new Delivery<>(EventId.of(item(key, offset)), offset, 1, key));
        }
        return deliveries;
    }

    private String item(String key, int offset) {
        return deduplication.byEventId() ? key + "-" + EVENTS.get(offset) : key + "-" + offset;
    }

    private static EventPartition partition(String key) {
        return new EventPartition(key, UUID.nameUUIDFromBytes(key.getBytes(StandardCharsets.UTF_8)), 0);
    }

    private static void acknowledge(DataSource broker, String key, long next) {
        if (Sql.update(broker, "UPDATE acknowledged_offset SET next_offset = ? WHERE case_key = ?", next, key) == 0) {
            Sql.update(broker, "INSERT INTO acknowledged_offset (case_key, next_offset) VALUES (?, ?)", key, next);
        }
    }

    @Override
    Optional<String> check(Trial trial) {
        int acknowledged = Sql.number(trial.database(), ACKNOWLEDGED, trial.key());
        for (int offset = 0; offset < EVENTS.size(); offset++) {
            int effects = Sql.effects(trial.database(), trial.key(), item(trial.key(), offset));
            if (effects > 1) {
                return Optional.of("event " + offset + " took effect " + effects + " times");
            }
            if (effects == 0 && offset < acknowledged) {
                return Optional.of("event " + offset + " is acknowledged and had no effect");
            }
        }
        return Optional.empty();
    }

    @Override
    Optional<String> checkSettled(Trial trial, Reply last) {
        int acknowledged = Sql.number(trial.database(), ACKNOWLEDGED, trial.key());
        return acknowledged == EVENTS.size()
                ? Optional.empty()
                : Optional.of("acknowledged up to " + acknowledged + " of " + EVENTS.size());
    }
}
