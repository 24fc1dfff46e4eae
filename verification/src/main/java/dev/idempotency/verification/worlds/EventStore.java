package dev.idempotency.verification.worlds;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.TransactionLostException;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.Marks;
import dev.idempotency.spi.OffsetAdvance;
import dev.idempotency.spi.PartitionAssignment;
import dev.idempotency.spi.PartitionOffsetStore;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionContext;
import dev.idempotency.transaction.TransactionLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Marks and fenced offsets; each row that a statement may have to wait for is a step of its own. */
final class EventStore implements PartitionOffsetStore {
    private final Actor actor;
    private final SeededFault fault;
    private final SimulatedRunner runner;

    EventStore(Actor actor, SeededFault fault) {
        this.actor = actor;
        this.fault = fault;
        this.runner = new SimulatedRunner(actor, SeededFault.NONE);
    }

    /**
     * How far a partition is processed.
     *
     * @param epoch the epoch of the last assignment
     * @param next the next offset, or null if it has never been advanced
     */
    record Offset(long epoch, @Nullable Long next) {}

    @Override
    public void register(ConsumerId consumer) {
        // There is one consumer, and it is known.
    }

    @Override
    public Marks mark(TransactionContext transaction, ConsumerId consumer, Collection<EventId> ids) {
        SimulatedTransaction joined = transaction.unwrap(SimulatedTransaction.class);
        Collection<EventId> ordered =
                fault == SeededFault.UNSORTED_MARKS ? new LinkedHashSet<>(ids) : new TreeSet<>(ids);
        if (fault == SeededFault.MARK_IN_OTHER_TRANSACTION) {
            Set<EventId> fresh = runner.<Set<EventId>, RuntimeException>run(
                    TransactionLimits.ofDefaults(),
                    other -> insert(other.unwrap(SimulatedTransaction.class), ordered)
                            .fresh());
            return new Marks(fresh, insert(joined, List.of()).transactionProof());
        }
        return insert(joined, ordered);
    }

    private static Marks insert(SimulatedTransaction transaction, Collection<EventId> ids) {
        Set<EventId> fresh = new HashSet<>();
        int serial = transaction.statement("begin", Integer.class, Sql::serial);
        for (EventId id : ids) {
            boolean inserted = OperationStore.told(() -> transaction.statement(
                    "mark " + id.value(), Boolean.class, sql -> sql.insertIfAbsent("mark/" + id.value(), "")));
            if (inserted) {
                fresh.add(id);
            }
        }
        return new Marks(fresh, Integer.toString(serial));
    }

    @Override
    public void confirm(Transaction transaction, Marks marks) {
        SimulatedTransaction joined = transaction.unwrap(SimulatedTransaction.class);
        try {
            if (!joined.statement("confirm", Boolean.class, sql -> isProven(sql, marks))) {
                throw lost();
            }
        } catch (DatabaseError e) {
            if (fault != SeededFault.MARKS_UNCONFIRMED) {
                throw OperationStore.translated(e);
            }
        }
    }

    private static boolean isProven(Sql sql, Marks marks) {
        return Integer.toString(sql.serial()).equals(marks.transactionProof());
    }

    private static TransactionLostException lost() {
        return new TransactionLostException("The transaction is not that of the marks any more", null);
    }

    @Override
    public List<PartitionAssignment> assign(ConsumerId consumer, Collection<EventPartition> partitions, String owner) {
        return runner.<List<PartitionAssignment>, RuntimeException>run(TransactionLimits.ofDefaults(), transaction -> {
            SimulatedTransaction joined = transaction.unwrap(SimulatedTransaction.class);
            List<PartitionAssignment> assignments = new ArrayList<>();
            for (EventPartition partition : new TreeSet<>(partitions)) {
                Offset offset = OperationStore.told(() ->
                        joined.statement("take over " + partition, Offset.class, sql -> takeOver(sql, partition)));
                assignments.add(new PartitionAssignment(partition, offset.epoch(), offset.next()));
            }
            return assignments;
        });
    }

    private static Offset takeOver(Sql sql, EventPartition partition) {
        String cell = cell(partition);
        sql.await(cell);
        Offset present = sql.find(cell, Offset.class);
        Offset taken = present == null ? new Offset(1, null) : new Offset(present.epoch() + 1, present.next());
        sql.write(cell, taken);
        return taken;
    }

    @Override
    public Set<EventPartition> advance(
            Transaction transaction, Marks marks, ConsumerId consumer, Collection<OffsetAdvance> advances) {
        SimulatedTransaction joined = transaction.unwrap(SimulatedTransaction.class);
        Set<EventPartition> fenced = new HashSet<>();
        for (OffsetAdvance step : advances) {
            String outcome = OperationStore.told(() -> joined.statement(
                    "advance " + step.partition() + " from " + step.from() + " to " + step.to() + " in epoch "
                            + step.epoch(),
                    String.class,
                    sql -> advance(sql, marks, step)));
            if (outcome.equals("other transaction")) {
                throw lost();
            }
            if (outcome.equals("fenced")) {
                fenced.add(step.partition());
            }
        }
        return fenced;
    }

    private String advance(Sql sql, Marks marks, OffsetAdvance step) {
        if (!isProven(sql, marks)) {
            return "other transaction";
        }
        String cell = cell(step.partition());
        sql.await(cell);
        Offset present = sql.find(cell, Offset.class);
        if (present == null || !isHeld(present, step)) {
            return "fenced";
        }
        sql.write(cell, new Offset(present.epoch(), step.to()));
        return "1 row";
    }

    private boolean isHeld(Offset present, OffsetAdvance step) {
        boolean unmoved = Objects.equals(present.next(), step.from());
        return switch (fault) {
            case ADVANCE_UNFENCED -> true;
            case UNKNOWN_IS_REPEATED -> present.epoch() == step.epoch();
            default -> present.epoch() == step.epoch() && unmoved;
        };
    }

    static String cell(EventPartition partition) {
        return "offset/" + partition.number();
    }

    @Override
    public int deleteMarks(Duration age, int limit) {
        throw new UnsupportedOperationException("No world is old enough, asked by " + actor.process());
    }
}
