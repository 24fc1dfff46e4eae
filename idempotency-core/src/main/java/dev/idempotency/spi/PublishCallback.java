package dev.idempotency.spi;

/** Told by an {@link OutboxPublisher} what became of an event; relays implement it. */
@FunctionalInterface
public interface PublishCallback {
    /**
     * Takes the outcome, exactly once per event.
     *
     * <p>It only notes it down and returns: publishers call it on the thread that does their input and output.
     *
     * @param row the event
     * @param outcome what became of it
     */
    void completed(OutboxRow row, PublishOutcome outcome);
}
