package dev.idempotency.testkit.process;

import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.Scope;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.spi.IdempotencyStore;
import dev.idempotency.spi.LeasedIdempotencyStore;
import dev.idempotency.spi.TransactionalIdempotencyStore;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import dev.idempotency.transaction.TransactionWork;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Puts named steps around real implementations of the SPIs; tests wrap what they hand to an engine.
 *
 * <p>The steps, in the order in which an operation passes them:
 *
 * <table>
 * <caption>Steps</caption>
 * <tr><th>step</th><th>protection</th><th>reached when</th></tr>
 * <tr><td>{@code operation.begun}</td><td>transactional</td><td>the transaction is open, nothing done in it</td></tr>
 * <tr><td>{@code operation.claiming}</td><td>both</td><td>before the claim</td></tr>
 * <tr><td>{@code operation.claimed}</td><td>both</td><td>the claim is acquired</td></tr>
 * <tr><td>{@code operation.effect-done}</td><td>both</td><td>the work has returned, before the completion</td></tr>
 * <tr><td>{@code operation.completed}</td><td>both</td><td>the completion is written; leased: and committed</td></tr>
 * <tr><td>{@code operation.committing}</td><td>transactional</td><td>before the commit</td></tr>
 * <tr><td>{@code operation.committed}</td><td>transactional</td><td>the commit has returned, nobody answered</td></tr>
 * <tr><td>{@code operation.extended}</td><td>leased</td><td>a heartbeat has been answered</td></tr>
 * <tr><td>{@code operation.released}</td><td>leased</td><td>the claim has been given back</td></tr>
 * </table>
 *
 * <p>The steps of a runner carry the prefix they are made with. The work names its own steps by calling {@link
 * Steps#reached(String)}.
 */
public final class Stepped {
    private Stepped() {}

    /**
     * Wraps a runner; its steps are {@code PREFIX.begun}, {@code PREFIX.committing} and {@code PREFIX.committed}.
     *
     * @param runner the real runner
     * @param prefix what the transactions are about, for instance {@code operation}, {@code event} or {@code outbox}
     * @param steps who is told
     * @return the runner with steps
     */
    public static TransactionRunner runner(TransactionRunner runner, String prefix, Steps steps) {
        return new SteppedRunner(runner, prefix, steps);
    }

    /**
     * Wraps a transactional store.
     *
     * @param store the real store
     * @param steps who is told
     * @return the store with steps, transactional only
     */
    public static TransactionalIdempotencyStore transactional(TransactionalIdempotencyStore store, Steps steps) {
        return new SteppedTransactionalStore(store, steps);
    }

    /**
     * Wraps a leased store.
     *
     * @param store the real store
     * @param steps who is told
     * @return the store with steps, leased only
     */
    public static LeasedIdempotencyStore leased(LeasedIdempotencyStore store, Steps steps) {
        return new SteppedLeasedStore(store, steps);
    }

    private record SteppedRunner(TransactionRunner runner, String prefix, Steps steps) implements TransactionRunner {
        @Override
        public <T extends @Nullable Object, X extends Exception> T run(
                TransactionLimits limits, TransactionWork<T, X> work) throws X {
            T value = runner.<T, X>run(limits, transaction -> {
                steps.reached(prefix + ".begun");
                T result = work.run(transaction);
                steps.reached(prefix + ".committing");
                return result;
            });
            steps.reached(prefix + ".committed");
            return value;
        }
    }

    private abstract static class SteppedStore implements IdempotencyStore {
        private final IdempotencyStore store;
        final Steps steps;

        SteppedStore(IdempotencyStore store, Steps steps) {
            this.store = store;
            this.steps = steps;
        }

        final ClaimOutcome claimed(ClaimOutcome outcome) {
            if (outcome instanceof ClaimOutcome.Acquired) {
                steps.reached("operation.claimed");
            }
            return outcome;
        }

        @Override
        public final boolean forget(RecordId id) {
            return store.forget(id);
        }

        @Override
        public final int forgetCaller(Scope caller, int limit) {
            return store.forgetCaller(caller, limit);
        }

        @Override
        public final int deleteExpired(int limit) {
            return store.deleteExpired(limit);
        }
    }

    private static final class SteppedTransactionalStore extends SteppedStore implements TransactionalIdempotencyStore {
        private final TransactionalIdempotencyStore store;

        SteppedTransactionalStore(TransactionalIdempotencyStore store, Steps steps) {
            super(store, steps);
            this.store = store;
        }

        @Override
        public ClaimOutcome claim(Transaction transaction, ClaimRequest request) {
            steps.reached("operation.claiming");
            return claimed(store.claim(transaction, request));
        }

        @Override
        public void complete(Transaction transaction, Claim claim, RecordedResult result) {
            steps.reached("operation.effect-done");
            store.complete(transaction, claim, result);
            steps.reached("operation.completed");
        }
    }

    private static final class SteppedLeasedStore extends SteppedStore implements LeasedIdempotencyStore {
        private final LeasedIdempotencyStore store;

        SteppedLeasedStore(LeasedIdempotencyStore store, Steps steps) {
            super(store, steps);
            this.store = store;
        }

        @Override
        public ClaimOutcome claim(ClaimRequest request, Duration leaseDuration) {
            steps.reached("operation.claiming");
            return claimed(store.claim(request, leaseDuration));
        }

        @Override
        public boolean extend(Claim claim, Duration leaseDuration) {
            boolean extended = store.extend(claim, leaseDuration);
            steps.reached("operation.extended");
            return extended;
        }

        @Override
        public boolean complete(Claim claim, RecordedResult result) {
            steps.reached("operation.effect-done");
            boolean completed = store.complete(claim, result);
            steps.reached("operation.completed");
            return completed;
        }

        @Override
        public boolean release(Claim claim) {
            boolean released = store.release(claim);
            steps.reached("operation.released");
            return released;
        }
    }
}
