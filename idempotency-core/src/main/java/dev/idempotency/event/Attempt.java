package dev.idempotency.event;

/** How one transaction went. */
sealed interface Attempt<E> {
    /** All of it is committed. */
    record Committed<E>(int handled, int duplicates) implements Attempt<E> {}

    /**
     * Some event's fault; of the one at the index, or of any if it is negative.
     *
     * @param connectionLost true if it may as well be the fault of whoever ended the session
     */
    record Failed<E>(int index, boolean connectionLost, Exception cause) implements Attempt<E> {}

    /** No event's fault, or settled already: reported as it is. */
    record Ended<E>(ProcessingFailure<E> failure) implements Attempt<E> {}
}
