package dev.idempotency.spi;

import dev.idempotency.ConsumerId;
import dev.idempotency.transaction.Transaction;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/**
 * A store that keeps, beside the marks, how far each partition has been processed, fenced by an epoch: the ability behind
 * {@link dev.idempotency.event.Deduplication#OFFSET}.
 *
 * <p>A consumer that has lost a partition without knowing it cannot advance it any more, whatever the broker, the clocks
 * or the network do: taking a partition over waits for the open transaction of the former owner and ends its epoch.
 *
 * <p>Transaction, concurrency, durability, failure and time source are as in {@link ProcessedEventStore}, where not said
 * otherwise.
 */
public interface PartitionOffsetStore extends ProcessedEventStore {
    /**
     * Takes the partitions over for the consumer: begins a new epoch of each and tells where to go on.
     *
     * <p>A transaction of its own, committed when the method returns. It waits for a former owner's transaction that has
     * advanced a partition and has not ended yet, so that the offset it returns is final.
     *
     * @param consumer a registered consumer
     * @param partitions the partitions, without repeats
     * @param owner a name of the new owner, for people; at most 200 characters are kept
     * @return one assignment for each partition, in no particular order
     * @throws dev.idempotency.StoreConflictException if a former owner's transaction did not end in time; nothing was
     *     taken over, and the call is safe to repeat
     */
    List<PartitionAssignment> assign(ConsumerId consumer, Collection<EventPartition> partitions, String owner);

    /**
     * Moves the offsets as the last statement of the transaction, each only if its epoch still holds and the offset still
     * is where the owner believes it to be, and only in the transaction of the marks (DESIGN rules T2 and T5).
     *
     * <p>The epoch alone would not do: a transaction whose COMMIT got no answer and that becomes durable later has the
     * same epoch, and its records would take effect a second time.
     *
     * @param transaction the transaction of the marks
     * @param marks what {@link #mark} gave in it
     * @param consumer a registered consumer
     * @param advances the steps, at most one for each partition
     * @return the partitions that are fenced: not empty means that the transaction must be rolled back
     * @throws dev.idempotency.TransactionLostException if that transaction has ended or failed behind the library's back;
     *     the transaction must be rolled back
     */
    Set<EventPartition> advance(
            Transaction transaction, Marks marks, ConsumerId consumer, Collection<OffsetAdvance> advances);
}
