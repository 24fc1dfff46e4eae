package dev.idempotency;

import java.time.Duration;

/** What became of one call; every expected situation is one of these, never an exception. */
public sealed interface OperationOutcome {
    /**
     * The work ran, and what it said is done: committed and recorded, or rolled back. The caller may be answered.
     *
     * @param result what the work returned
     */
    record Executed(WorkResult result) implements OperationOutcome {}

    /**
     * The operation was over before; the work did not run. The recorded answer is the answer.
     *
     * @param result the first answer
     */
    record Replayed(RecordedResult.Replayable result) implements OperationOutcome {}

    /**
     * The operation was over before, but its answer cannot be given again; the work did not run and never will.
     *
     * @param result what is known of it
     */
    record Unavailable(RecordedResult.NotReplayable result) implements OperationOutcome {}

    /**
     * Another attempt owns the operation now; the work did not run.
     *
     * @param retryAfter when to ask again
     */
    record InProgress(Duration retryAfter) implements OperationOutcome {}

    /** The key was used for another request; the work did not run. */
    record Mismatch() implements OperationOutcome {}

    /** The record has expired and only its tombstone is left; the work did not run. */
    record Expired() implements OperationOutcome {}

    /** An earlier owner vanished and nobody can tell whether its effect happened; the work did not run. */
    record Abandoned() implements OperationOutcome {}

    /** The process is shutting down; the work did not run and no record was made. */
    record ShuttingDown() implements OperationOutcome {}

    /**
     * The store could not be asked; the work did not run.
     *
     * @param cause what the store said
     */
    record StoreUnavailable(IdempotencyException cause) implements OperationOutcome {}

    /**
     * The work ran, but its transaction was not committed: nothing of it is left, the key is free, a repeat runs.
     *
     * @param cause why not
     */
    record NotCommitted(IdempotencyException cause) implements OperationOutcome {}

    /**
     * The work ran, and whether it was committed or recorded is not known; a repeat with the same key finds out.
     *
     * @param cause what is missing
     */
    record Unknown(IdempotencyException cause) implements OperationOutcome {}
}
