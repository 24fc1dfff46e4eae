package dev.idempotency.event;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.transaction.Transaction;

/**
 * What a handler may know about the event in hand; the library implements it.
 *
 * <p>Belongs to one run of one handler and to its thread.
 */
public interface EventContext {
    /**
     * Returns the consumer for which the event is handled.
     *
     * @return the consumer's id
     */
    ConsumerId consumer();

    /**
     * Returns the identity of the event.
     *
     * @return the same id in every delivery of the event
     */
    EventId eventId();

    /**
     * Returns the transaction in which the event is marked; what the handler writes has to be written in it.
     *
     * @return the transaction
     */
    Transaction transaction();

    /**
     * Returns which attempt this is, as far as this process knows.
     *
     * @return 1 for the first, one more after each failed one
     */
    int attempt();

    /**
     * Returns the key for a call that the handler makes to another system: the same in every run for this event.
     *
     * @param step the step's stable name, unique within the handler
     * @return the derived key
     */
    IdempotencyKey derive(String step);
}
