package dev.idempotency.spi;

import dev.idempotency.ConsumerId;
import dev.idempotency.transaction.TransactionContext;
import java.util.List;
import java.util.Optional;

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
     * @param limit the most events to return, 1 to 1,000
     * @return the first of them
     */
    List<ParkedEvent> findParked(ConsumerId consumer, int limit);

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
