package dev.idempotency.event;

/**
 * What is done about one event; callers of {@link ProcessedEvents#processOnce} implement it.
 *
 * @param <X> the type of exception it may throw; it passes through untouched
 */
@FunctionalInterface
public interface EventWork<X extends Exception> {
    /**
     * Does the work.
     *
     * @param context what is known about the event, and the transaction to write in
     * @throws X to roll the transaction back and leave the event unprocessed
     */
    void run(EventContext context) throws X;
}
