package dev.idempotency.spi;

import dev.idempotency.ConsumerId;
import dev.idempotency.transaction.TransactionContext;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A store that keeps events that could not be handled: the ability behind parking.
 *
 * <p>A parked event is not marked: a mark would make its replay look like a duplicate.
 *
 * <p>Transaction, concurrency, durability, failure and time source are as in {@link ProcessedEventStore}, where not said
 * otherwise.
 */
public interface ParkedEventStore extends ProcessedEventStore {
    /**
     * Parks the event in the caller's transaction; one that is parked at the same place already is replaced.
     *
     * @param transaction the transaction that also moves the consumer past the event
     * @param consumer a registered consumer
     * @param event the event
     */
    void park(TransactionContext transaction, ConsumerId consumer, ParkedEvent event);

    /**
     * Lists parked events of the consumer, in order of partition and offset.
     *
     * @param consumer a registered consumer
     * @param after the last event of the page before, of which only the place counts, whether it is still parked or not;
     *     null for the first page
     * @param limit the most events to return, 1 to 1,000
     * @return those that come next
     */
    List<ParkedEvent> findParked(ConsumerId consumer, @Nullable ParkedEvent after, int limit);

    /**
     * Lists the keys of the events that are parked in one partition; events without a key have none.
     *
     * @param consumer a registered consumer
     * @param partition the partition
     * @param limit the most keys to return, 1 to 1,000
     * @return some of them, each once, in no particular order; all if they are fewer than the limit
     */
    List<byte[]> findParkedKeys(ConsumerId consumer, EventPartition partition, int limit);

    /**
     * Finds the first event of a key that is parked in a partition and locks it until the caller's transaction ends: as long
     * as it is parked, later events of the key wait behind it, and who parks one and who replays the first cannot miss each
     * other.
     *
     * @param transaction the transaction that parks or replays another event of the key
     * @param consumer a registered consumer
     * @param partition the partition
     * @param key the key's bytes
     * @return the event's offset; empty if no event of the key is parked
     */
    OptionalLong lockFirstParked(
            TransactionContext transaction, ConsumerId consumer, EventPartition partition, byte[] key);

    /**
     * Reads one parked event and locks it until the caller's transaction ends, so that it is replayed once at a time.
     *
     * @param transaction the transaction of the replay
     * @param consumer a registered consumer
     * @param partition where the event stood
     * @param offset where the event stood in it
     * @return the event; empty if it is not parked any more
     */
    Optional<ParkedEvent> lockParked(
            TransactionContext transaction, ConsumerId consumer, EventPartition partition, long offset);

    /**
     * Removes a parked event in the caller's transaction.
     *
     * @param transaction the transaction in which the event was handled
     * @param consumer a registered consumer
     * @param partition where the event stood
     * @param offset where the event stood in it
     * @return true if it was parked
     */
    boolean unpark(TransactionContext transaction, ConsumerId consumer, EventPartition partition, long offset);
}
