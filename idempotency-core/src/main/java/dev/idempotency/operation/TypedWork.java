package dev.idempotency.operation;

import dev.idempotency.IdempotencyContext;
import org.jspecify.annotations.Nullable;

/**
 * The work of an operation that has a result; users implement it, {@link dev.idempotency.KeyedOperation} runs it.
 *
 * @param <C> what the work is given: {@link TransactionalContext}, or {@link IdempotencyContext} for leased work
 * @param <T> the type of its result
 * @param <X> the type of exception it may throw; it passes through untouched
 */
@FunctionalInterface
public interface TypedWork<C extends IdempotencyContext, T extends @Nullable Object, X extends Exception> {
    /**
     * Does the work.
     *
     * @param context what the work may know and use, on this thread and until this method returns
     * @return the result that every repeat gets; null is a result like any other
     * @throws X if it failed: under {@link dev.idempotency.Protection#TRANSACTIONAL} everything is rolled back and the
     *     key is free; under {@link dev.idempotency.Protection#LEASED} the effect is in doubt and the key is spent,
     *     unless {@link IdempotencyContext#markNoEffect()} was called
     */
    T run(C context) throws X;
}
