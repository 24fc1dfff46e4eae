package dev.idempotency.event;

/**
 * What a consumer does about one event; applications implement it.
 *
 * @param <E> the type of event
 */
@FunctionalInterface
public interface EventHandler<E> {
    /**
     * Handles the event; called only for events that this consumer has not processed, in the order of their partition.
     *
     * <p>It must write through {@link EventContext#transaction()}, and must let an exception out if the event is not
     * handled.
     *
     * @param event the event
     * @param context what is known about it
     * @throws Exception to roll the transaction back; the event is tried again
     */
    void handle(E event, EventContext context) throws Exception;
}
