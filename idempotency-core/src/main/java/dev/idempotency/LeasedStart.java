package dev.idempotency;

/** What beginning a leased operation led to. */
public sealed interface LeasedStart {
    /**
     * The caller owns the operation and must finish it.
     *
     * @param operation the running operation
     */
    record Started(LeasedOperation operation) implements LeasedStart {}

    /**
     * The work must not run.
     *
     * @param outcome what to tell the caller
     */
    record NotStarted(OperationOutcome outcome) implements LeasedStart {}
}
