package dev.idempotency.event;

import dev.idempotency.IdempotencyException;

/**
 * Names the event at fault; an {@link EventBatchHandler} throws it.
 *
 * <p>The transaction is rolled back; the events before the named one are handled again without it.
 */
public final class FailedEventException extends IdempotencyException {
    private static final long serialVersionUID = 1L;

    private final transient EventContext context;

    /**
     * Creates the exception.
     *
     * @param event the event at fault, as it stood in the handler's list
     * @param cause why it failed
     */
    public FailedEventException(Event<?> event, Throwable cause) {
        super("The event " + event.context().eventId().value() + " could not be handled", cause);
        this.context = event.context();
    }

    /** Tells by identity, which outlives that adapters put the payload in another form. */
    @SuppressWarnings("ReferenceEquality")
    boolean names(Event<?> event) {
        return event.context() == context;
    }
}
