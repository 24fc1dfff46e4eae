package dev.idempotency.operation;

import dev.idempotency.IdempotencyContext;

/**
 * The work of an operation that has an effect and no result; users implement it, {@link
 * dev.idempotency.KeyedOperation} runs it.
 *
 * @param <C> what the work is given: {@link TransactionalContext}, or {@link IdempotencyContext} for leased work
 * @param <X> the type of exception it may throw; it passes through untouched
 */
@FunctionalInterface
public interface EffectWork<C extends IdempotencyContext, X extends Exception> {
    /**
     * Does the work.
     *
     * @param context what the work may know and use, on this thread and until this method returns
     * @throws X if it failed, with what {@link TypedWork#run} says of it
     */
    void run(C context) throws X;
}
