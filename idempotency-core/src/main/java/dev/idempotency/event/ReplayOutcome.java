package dev.idempotency.event;

import java.util.Objects;

/** What a replay of a parked event came to. */
public sealed interface ReplayOutcome {
    /** The event was handled and is parked no more; both are committed. */
    record Handled() implements ReplayOutcome {}

    /** The event had been processed by another delivery; it was not handled again and is parked no more. */
    record AlreadyProcessed() implements ReplayOutcome {}

    /**
     * An earlier event of its key is parked in the partition and has to be replayed before it; this one stays parked.
     *
     * @param offset where the first of them stands
     */
    record Waits(long offset) implements ReplayOutcome {}

    /** No such event is parked: it was replayed before, or never parked. */
    record NotParked() implements ReplayOutcome {}

    /**
     * The event stays parked, and nothing is left of the attempt.
     *
     * @param cause what the handler threw, or why the database could not be used
     */
    record Failed(Exception cause) implements ReplayOutcome {
        /** Checks that the cause is present. */
        public Failed {
            Objects.requireNonNull(cause, "cause");
        }
    }

    /**
     * The commit got no answer: the event was handled or is still parked. Replaying it again tells, and is safe.
     *
     * @param cause what the transaction's runner said
     */
    record Unknown(Exception cause) implements ReplayOutcome {
        /** Checks that the cause is present. */
        public Unknown {
            Objects.requireNonNull(cause, "cause");
        }
    }
}
