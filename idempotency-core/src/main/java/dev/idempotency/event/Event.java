package dev.idempotency.event;

import java.util.Objects;

/**
 * One fresh event in the list that a {@link EventBatchHandler} gets.
 *
 * @param <E> the type of event
 * @param payload the event
 * @param context what is known about it
 */
public record Event<E>(E payload, EventContext context) {
    /** Checks that the context is present. */
    public Event {
        Objects.requireNonNull(context, "context");
    }
}
