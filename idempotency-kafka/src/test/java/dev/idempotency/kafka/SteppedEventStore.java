package dev.idempotency.kafka;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.jdbi.JdbiEventStore;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.Marks;
import dev.idempotency.spi.OffsetAdvance;
import dev.idempotency.spi.PartitionAssignment;
import dev.idempotency.spi.PartitionOffsetStore;
import dev.idempotency.testkit.process.Steps;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionContext;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/** The real store, with the steps {@code event.marked} and {@code event.advanced} behind its statements. */
record SteppedEventStore(JdbiEventStore store, Steps steps) implements PartitionOffsetStore {
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
}
