package dev.idempotency.event;

/** How one transaction went. */
sealed interface Attempt<E> {
    /**
     * All of it is committed.
     *
     * @param duplicates how many events were not handled, because they are processed
     * @param repeated how many of these stood in the same transaction a second time
     */
    record Committed<E>(int handled, int duplicates, int repeated) implements Attempt<E> {}

    /**
     * Some event's fault; of the one at the index, or of any if it is negative.
     *
     * @param connectionLost true if it may as well be the fault of whoever ended the session
     */
    record Failed<E>(int index, boolean connectionLost, Exception cause) implements Attempt<E> {}

    /** There was nothing to do. */
    record Nothing<E>() implements Attempt<E> {}

    /** An earlier event of the same key, at this offset, has to be replayed first. */
    record Behind<E>(long offset) implements Attempt<E> {}

    /** No event's fault, or settled already: reported as it is. */
    record Ended<E>(ProcessingFailure<E> failure) implements Attempt<E> {}
}
