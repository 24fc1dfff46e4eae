package dev.idempotency;

/**
 * The work of an operation; users and adapters implement it, {@link Idempotency} runs it.
 *
 * @param <X> the type of exception it may throw; it passes through untouched
 */
@FunctionalInterface
public interface OperationWork<X extends Exception> {
    /**
     * Does the work and says how it ended.
     *
     * @param context what the work may know of its claim; under {@link Protection#TRANSACTIONAL} it gives the
     *     transaction
     * @return how it ended
     * @throws X if it failed: under {@link Protection#TRANSACTIONAL} everything is rolled back and the key is free;
     *     under {@link Protection#LEASED} the effect is in doubt and the key is spent, unless {@link
     *     IdempotencyContext#markNoEffect()} was called
     */
    WorkResult run(IdempotencyContext context) throws X;
}
