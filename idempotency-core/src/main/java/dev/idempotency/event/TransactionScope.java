package dev.idempotency.event;

/** How much one transaction holds: the question is whether handlers touch anything outside the database. */
public enum TransactionScope {
    /**
     * One transaction for all events that were delivered together: for handlers that work inside the database only.
     *
     * <p>Much the fastest. After a failure the transaction is rolled back and split, so a handler may run more than once
     * for an event, though only one run is ever committed: a call it made to another system would be repeated.
     */
    PER_BATCH,
    /**
     * One transaction for each event: for handlers that call other systems.
     *
     * <p>A crash between such a call and the commit repeats the call with the next delivery; {@link
     * EventContext#derive} gives it the same key each time.
     */
    PER_EVENT
}
