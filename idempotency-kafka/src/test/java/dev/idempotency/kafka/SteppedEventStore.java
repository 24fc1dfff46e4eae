package dev.idempotency.kafka;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.jdbi.JdbiEventStore;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.Marks;
import dev.idempotency.spi.OffsetAdvance;
import dev.idempotency.spi.ParkedEvent;
import dev.idempotency.spi.ParkedEventStore;
import dev.idempotency.spi.PartitionAssignment;
import dev.idempotency.spi.StartedAttemptStore;
import dev.idempotency.testkit.process.Steps;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionContext;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The real store, with the steps {@code event.marked} and {@code event.advanced} behind its statements. */
record SteppedEventStore(JdbiEventStore store, Steps steps) implements StartedAttemptStore, ParkedEventStore {
    @Override
    public void register(ConsumerId consumer) {
        store.register(consumer);
    }

    @Override
    public Marks mark(TransactionContext transaction, ConsumerId consumer, Collection<EventId> ids) {
        Marks marks = store.mark(transaction, consumer, ids);
        steps.reached("event.marked");
        return marks;
    }

    @Override
    public void confirm(Transaction transaction, Marks marks) {
        store.confirm(transaction, marks);
        steps.reached("event.advanced");
    }

    @Override
    public int deleteMarks(Duration age, int limit) {
        return store.deleteMarks(age, limit);
    }

    @Override
    public List<PartitionAssignment> assign(ConsumerId consumer, Collection<EventPartition> partitions, String owner) {
        return store.assign(consumer, partitions, owner);
    }

    @Override
    public Set<EventPartition> advance(
            Transaction transaction, Marks marks, ConsumerId consumer, Collection<OffsetAdvance> advances) {
        Set<EventPartition> fenced = store.advance(transaction, marks, consumer, advances);
        steps.reached("event.advanced");
        return fenced;
    }

    @Override
    public OptionalInt start(ConsumerId consumer, PartitionAssignment assignment, long offset) {
        return store.start(consumer, assignment, offset);
    }

    @Override
    public void settle(ConsumerId consumer, PartitionAssignment assignment, long offset) {
        store.settle(consumer, assignment, offset);
    }

    @Override
    public void park(TransactionContext transaction, ConsumerId consumer, ParkedEvent event) {
        store.park(transaction, consumer, event);
        steps.reached("event.parked");
    }

    @Override
    public List<ParkedEvent> findParked(ConsumerId consumer, @Nullable ParkedEvent after, int limit) {
        return store.findParked(consumer, after, limit);
    }

    @Override
    public List<byte[]> findParkedKeys(ConsumerId consumer, EventPartition partition, int limit) {
        return store.findParkedKeys(consumer, partition, limit);
    }

    @Override
    public OptionalLong lockFirstParked(
            TransactionContext transaction, ConsumerId consumer, EventPartition partition, byte[] key) {
        return store.lockFirstParked(transaction, consumer, partition, key);
    }

    @Override
    public Optional<ParkedEvent> lockParked(
            TransactionContext transaction, ConsumerId consumer, EventPartition partition, long offset) {
        return store.lockParked(transaction, consumer, partition, offset);
    }

    @Override
    public boolean unpark(TransactionContext transaction, ConsumerId consumer, EventPartition partition, long offset) {
        return store.unpark(transaction, consumer, partition, offset);
    }
}
