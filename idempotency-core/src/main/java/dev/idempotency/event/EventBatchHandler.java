package dev.idempotency.event;

import dev.idempotency.transaction.Transaction;
import java.util.List;

/**
 * What a consumer does about many events at once, always inside the database; applications implement it.
 *
 * @param <E> the type of event
 */
@FunctionalInterface
public interface EventBatchHandler<E> {
    /**
     * Handles the events; called only with events that this consumer has not processed, each once, those of one partition
     * in their order.
     *
     * @param events at least one event
     * @param transaction the transaction in which they are marked; what the handler writes has to be written in it
     * @throws FailedEventException to name the event at fault, so that it need not be searched
     * @throws Exception to roll the transaction back; the batch is then split until the event at fault is found
     */
    void handle(List<Event<E>> events, Transaction transaction) throws Exception;
}
