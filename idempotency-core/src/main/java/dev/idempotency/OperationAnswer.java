package dev.idempotency;

/**
 * Gives a caller the answer to an operation; adapters implement it.
 *
 * @param <X> the type of exception it may throw; it passes through untouched and changes nothing of what is recorded
 */
@FunctionalInterface
public interface OperationAnswer<X extends Exception> {
    /**
     * Answers.
     *
     * @param outcome what became of the call
     * @throws X if the answer could not be given
     */
    void give(OperationOutcome outcome) throws X;
}
