package dev.idempotency.verification.worlds;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.IdempotencyException;
import dev.idempotency.event.Deduplication;
import dev.idempotency.event.Delivery;
import dev.idempotency.event.EventContext;
import dev.idempotency.event.EventProcessor;
import dev.idempotency.event.PartitionDeliveries;
import dev.idempotency.event.ProcessingFailure;
import dev.idempotency.event.ProcessingResult;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.PartitionAssignment;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Consumers of one group: the product's engine on a simulated store, and what the consumer's loop does around it.
 *
 * <p>A rebalance gives a partition to another consumer at any moment; who has lost it learns so at his next poll.
 */
final class EventWorld extends World {
    private static final ConsumerId CONSUMER = ConsumerId.of("billing");
    private static final UUID TOPIC = new UUID(0, 1);
    private static final int POLLS_ALONE = 8;

    private final Setup setup;

    /**
     * What a world of events is made of.
     *
     * @param deduplication by what duplicates are recognised
     * @param scope how much one transaction holds
     * @param log the ids in each partition; partition n belongs to consumer n at first, if there is one
     * @param consumers how many consumers there are
     * @param polls how often each polls in one life
     * @param budgets what may go wrong
     * @param swallows whether a statement of the handler fails once for each consumer, and the handler goes on
     * @param shortLook whether less time passes than the server lets a transaction be idle
     */
    record Setup(
            String name,
            Deduplication deduplication,
            TransactionScope scope,
            List<List<String>> log,
            int consumers,
            int polls,
            Map<Budget, Integer> budgets,
            boolean swallows,
            boolean shortLook) {
        static Setup of(String name, Deduplication deduplication, String... log) {
            return new Setup(
                    name,
                    deduplication,
                    TransactionScope.PER_BATCH,
                    List.of(List.of(log)),
                    2,
                    2,
                    Map.of(),
                    false,
                    false);
        }

        Setup oneByOne() {
            return new Setup(
                    name,
                    deduplication,
                    TransactionScope.PER_EVENT,
                    log,
                    consumers,
                    polls,
                    budgets,
                    swallows,
                    shortLook);
        }

        Setup andPartition(String... ids) {
            List<List<String>> longer = new ArrayList<>(log);
            longer.add(List.of(ids));
            return new Setup(
                    name, deduplication, scope, List.copyOf(longer), consumers, polls, budgets, swallows, shortLook);
        }

        Setup polling(int times) {
            return new Setup(name, deduplication, scope, log, consumers, times, budgets, swallows, shortLook);
        }

        Setup swallowingErrors() {
            return new Setup(name, deduplication, scope, log, consumers, polls, budgets, true, shortLook);
        }

        Setup withinIdleTime() {
            return new Setup(name, deduplication, scope, log, consumers, polls, budgets, swallows, true);
        }

        Setup with(Budget budget, int times) {
            EnumMap<Budget, Integer> more = new EnumMap<>(Budget.class);
            more.putAll(budgets);
            more.put(budget, times);
            return new Setup(name, deduplication, scope, log, consumers, polls, more, swallows, shortLook);
        }
    }

    /**
     * Who reads a partition.
     *
     * @param owner the consumer
     * @param generation grows with each rebalance; a commit of an older one is refused
     */
    record Ownership(int owner, int generation) {}

    EventWorld(Setup setup, SeededFault fault) {
        super(setup.name(), setup.consumers(), fault);
        this.setup = setup;
    }

    @Override
    Dialect dialect() {
        return Dialect.POSTGRESQL;
    }

    @Override
    boolean waitsAreBounded() {
        return !isSeeded(SeededFault.LOCK_WAIT_UNBOUNDED);
    }

    @Override
    boolean isIdleTimeOver() {
        return !setup.shortLook();
    }

    @Override
    String processName(int process) {
        return process == processes() ? "later     " : "consumer " + (process + 1);
    }

    @Override
    State begin() {
        State state = new State(processes());
        setup.budgets().forEach(state::setBudget);
        for (int partition = 0; partition < setup.log().size(); partition++) {
            state.putOutside("group/" + partition, new Ownership(partition, 1));
        }
        return state;
    }

    @Override
    List<Event> events(State state) {
        List<Event> events = new ArrayList<>();
        if (state.budget(Budget.REBALANCES) > 0) {
            for (int partition = 0; partition < setup.log().size(); partition++) {
                Ownership present = ownership(state, partition);
                int next = (present.owner() + 1) % processes();
                State moved = state.copy();
                moved.spend(Budget.REBALANCES);
                moved.putOutside("group/" + partition, new Ownership(next, present.generation() + 1));
                events.add(new Event("group     partition " + partition + " is given to " + processName(next), moved));
            }
        }
        return events;
    }

    private static Ownership ownership(State state, int partition) {
        Ownership ownership = state.outside("group/" + partition, Ownership.class);
        if (ownership == null) {
            throw new IllegalStateException("Nobody owns " + partition);
        }
        return ownership;
    }

    @Override
    void prepareComeBack(State state) {
        for (int partition = 0; partition < setup.log().size(); partition++) {
            state.putOutside("group/" + partition, new Ownership(processes(), 100));
        }
        for (int process = 0; process < processes(); process++) {
            state.removeOutside("stopped/" + process);
        }
    }

    @Override
    String run(Actor actor) {
        return new Consumer(actor).run();
    }

    /** What a poll tells: which partitions this consumer has, in which generation, and what is committed for each. */
    record Polled(SortedMap<Integer, Ownership> owned, SortedMap<Integer, Long> committed) {
        @Override
        public String toString() {
            return "has " + owned.keySet() + ", committed " + committed;
        }
    }

    /** The consumer's loop of idempotency-kafka, as far as it matters here. */
    private final class Consumer {
        private final Actor actor;
        private final EventProcessor<String> processor;
        private final SortedMap<Integer, Lane> lanes = new TreeMap<>();

        Consumer(Actor actor) {
            this.actor = actor;
            this.processor = EventProcessor.<String>builder()
                    .consumer(CONSUMER)
                    .store(new EventStore(actor, fault))
                    .transactions(new SimulatedRunner(actor, fault))
                    .deduplication(setup.deduplication())
                    .handler(setup.scope(), this::handle)
                    .maxConflicts(2)
                    .build();
        }

        String run() {
            int polls = actor.process() == processes() ? POLLS_ALONE : setup.polls();
            for (int poll = 1; poll <= polls; poll++) {
                poll();
                takeOver();
                process();
            }
            return isAtEnd() ? "at the end" : "stopped";
        }

        private boolean isAtEnd() {
            for (Map.Entry<Integer, Lane> lane : lanes.entrySet()) {
                if (lane.getValue().position < setup.log().get(lane.getKey()).size()) {
                    return false;
                }
            }
            return true;
        }

        private void poll() {
            int me = actor.process();
            Polled polled = actor.ask("poll", Polled.class, state -> {
                SortedMap<Integer, Ownership> owned = new TreeMap<>();
                SortedMap<Integer, Long> committed = new TreeMap<>();
                for (int partition = 0; partition < setup.log().size(); partition++) {
                    if (ownership(state, partition).owner() == me) {
                        owned.put(partition, ownership(state, partition));
                        committed.put(partition, committed(state, partition));
                    }
                }
                return new Polled(owned, committed);
            });
            lanes.keySet().retainAll(polled.owned().keySet());
            polled.owned().forEach((partition, ownership) -> {
                Lane lane = lanes.get(partition);
                if (lane == null || lane.generation != ownership.generation()) {
                    long committed = polled.committed().getOrDefault(partition, 0L);
                    lanes.put(partition, new Lane(ownership.generation(), committed));
                }
            });
        }

        private void takeOver() {
            List<EventPartition> due = new ArrayList<>();
            lanes.forEach((partition, lane) -> {
                if (lane.assignment == null) {
                    due.add(new EventPartition("t", TOPIC, partition));
                }
            });
            if (due.isEmpty()) {
                return;
            }
            try {
                for (PartitionAssignment assignment : processor.assign(due, "me")) {
                    lane(assignment.partition()).assigned(assignment);
                }
            } catch (IdempotencyException e) {
                // They stay unassigned; the next round tries again.
            }
        }

        private Lane lane(EventPartition partition) {
            Lane lane = lanes.get(partition.number());
            if (lane == null) {
                throw new IllegalStateException("There is no lane for " + partition);
            }
            return lane;
        }

        private void process() {
            List<PartitionDeliveries<String>> deliveries = new ArrayList<>();
            lanes.forEach((partition, lane) -> {
                List<String> log = setup.log().get(partition);
                PartitionAssignment assignment = lane.assignment;
                if (assignment != null && lane.position < log.size()) {
                    List<Delivery<String>> part = new ArrayList<>();
                    for (int offset = (int) lane.position; offset < log.size(); offset++) {
                        part.add(new Delivery<>(EventId.of(log.get(offset)), offset, 1, log.get(offset)));
                    }
                    deliveries.add(new PartitionDeliveries<>(assignment, part, log.size()));
                    if (isSeeded(SeededFault.OFFSET_BEFORE_COMMIT)) {
                        commit(partition, lane, log.size());
                    }
                }
            });
            if (!deliveries.isEmpty()) {
                BooleanSupplier always = () -> true;
                ProcessingResult<String> result = processor.process(deliveries, always);
                result.progress().forEach((partition, next) -> lane(partition).advance(next));
                result.failures().forEach(this::settle);
            }
            // The database may be ahead of Kafka, after a crash between the two commits.
            lanes.forEach((partition, lane) -> {
                if (lane.position > lane.committed) {
                    commit(partition, lane, lane.position);
                }
            });
        }

        private void settle(ProcessingFailure<String> failure) {
            if (failure instanceof ProcessingFailure.Fenced<String> fenced) {
                fenced.partitions().forEach(partition -> lane(partition).assignment = null);
            } else if (failure instanceof ProcessingFailure.CommitUnknown<String> unknown) {
                if (!isSeeded(SeededFault.UNKNOWN_IS_REPEATED)) {
                    unknown.partitions().forEach(partition -> lane(partition).assignment = null);
                }
            } else if (failure instanceof ProcessingFailure.HandlerFailed<String> failed && !setup.swallows()) {
                throw new IllegalStateException(
                        "The event " + failed.delivery().id().value() + " is blamed for what it has not done");
            }
        }

        private void commit(int partition, Lane lane, long offset) {
            int generation = lane.generation;
            actor.outside("commit offset " + offset + " of partition " + partition, state -> {
                if (ownership(state, partition).generation() == generation) {
                    state.putOutside("committed/" + partition, offset);
                }
            });
            lane.committed = offset;
        }

        private void handle(String event, EventContext context) throws SQLException {
            SimulatedTransaction transaction = context.transaction().unwrap(SimulatedTransaction.class);
            try {
                effect(transaction, event);
                if (setup.swallows() && actor.life() == 0 && actor.process() < processes()) {
                    swallow(transaction);
                }
            } catch (DatabaseError e) {
                throw e.asSqlException();
            }
        }

        private void effect(SimulatedTransaction transaction, String event) {
            String cell = "effect/" + event + "/" + transaction.id();
            if (isSeeded(SeededFault.EFFECT_IN_OTHER_TRANSACTION)) {
                actor.outside(
                        "effect of " + event + " on another connection",
                        state -> state.changeRows(rows -> rows.put(cell, "")));
                return;
            }
            transaction.work("effect of " + event, sql -> {
                sql.insert(cell, "");
                return null;
            });
        }

        private void swallow(SimulatedTransaction transaction) {
            try {
                transaction.work("a statement that fails", sql -> {
                    throw new DatabaseError(DatabaseError.Kind.DUPLICATE_KEY);
                });
            } catch (DatabaseError e) {
                // That is its defect.
            }
        }
    }

    /** What a consumer knows of a partition. */
    private static final class Lane {
        private final int generation;
        private @Nullable PartitionAssignment assignment;
        private long position;
        private long committed;

        Lane(int generation, long committed) {
            this.generation = generation;
            this.position = committed;
            this.committed = committed;
        }

        void assigned(PartitionAssignment taken) {
            assignment = taken;
            Long next = taken.nextOffset();
            if (next != null) {
                position = next;
            }
        }

        void advance(long next) {
            position = next;
            PartitionAssignment present = assignment;
            if (present != null) {
                assignment = new PartitionAssignment(present.partition(), present.epoch(), next);
            }
        }
    }

    private static long committed(State state, int partition) {
        Long committed = state.outside("committed/" + partition, Long.class);
        return committed == null ? 0 : committed;
    }

    @Override
    @Nullable
    String check(State state) {
        Set<String> effects = new HashSet<>();
        for (String cell : state.rows("effect/").keySet()) {
            String event = cell.split("/", -1)[1];
            if (!effects.add(event)) {
                return "The event " + event + " has taken effect twice";
            }
        }
        for (int partition = 0; partition < setup.log().size(); partition++) {
            String wrong = check(state, partition, effects);
            if (wrong != null) {
                return wrong;
            }
        }
        return null;
    }

    private @Nullable String check(State state, int partition, Set<String> effects) {
        List<String> log = setup.log().get(partition);
        EventStore.Offset offset = (EventStore.Offset) state.rows().get("offset/" + partition);
        Long next = offset == null ? null : offset.next();
        boolean missing = false;
        for (int i = 0; i < log.size(); i++) {
            String event = log.get(i);
            if (!effects.contains(event)) {
                missing = true;
                if (i < committed(state, partition)) {
                    return "The offset in Kafka is " + committed(state, partition) + ", but the effect of " + event
                            + " before it is not there";
                }
                if (next != null && i < next) {
                    return "The offset in the database is " + next + ", but the effect of " + event
                            + " before it is not there";
                }
                if (state.rows().containsKey("mark/" + event)) {
                    return "The event " + event + " is marked, but its effect is not there";
                }
            } else if (missing && setup.log().size() == 1) {
                return "The event " + event + " has taken effect before one that comes first";
            }
        }
        return null;
    }

    @Override
    @Nullable
    String checkComeBack(State state, String result) {
        if (!result.equals("at the end")) {
            return "a consumer that reads everything ended with: " + result;
        }
        for (int partition = 0; partition < setup.log().size(); partition++) {
            if (committed(state, partition) < setup.log().get(partition).size()) {
                return "the partition " + partition + " was not read to its end";
            }
        }
        return null;
    }
}
