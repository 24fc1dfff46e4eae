package dev.idempotency;

import dev.idempotency.spi.Claim;
import dev.idempotency.spi.LeasedIdempotencyStore;
import dev.idempotency.transaction.Transaction;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * An operation under {@link Protection#LEASED} that runs now and is finished exactly once, by whichever thread its work
 * ends on.
 *
 * <p>For asynchronous work; work that returns to its caller uses {@link Idempotency#execute}. While it is not finished,
 * a heartbeat extends the lease. Safe for use by many threads.
 */
public final class LeasedOperation {
    private final LeasedIdempotencyStore store;
    private final Claim claim;
    private final Lease lease;
    private final Context context;
    private final AtomicBoolean finished = new AtomicBoolean();
    private Runnable onEnd = () -> {};
    private Reports.@Nullable Call report;

    LeasedOperation(LeasedIdempotencyStore store, Claim claim, Lease lease, KeyDerivation derivation) {
        this.store = store;
        this.claim = claim;
        this.lease = lease;
        this.context = new Context(derivation);
    }

    void onEnd(Runnable action) {
        onEnd = action;
    }

    /** Not called for work that runs within {@link Idempotency#execute}, which reports for itself. */
    void reportTo(Reports.Call call) {
        report = call;
    }

    /**
     * Returns what the work may know of its claim.
     *
     * @return the context
     */
    public IdempotencyContext context() {
        return context;
    }

    /**
     * Records how the work ended and gives the claim up.
     *
     * @param result how it ended
     * @return {@link OperationOutcome.Executed} if recorded or given back; {@link OperationOutcome.Unknown} if neither could
     *     be done, with a {@link ClaimLostException} as its cause if the claim was lost, and a repeat gets the successor's
     *     answer
     * @throws IllegalStateException if it was finished before
     */
    public OperationOutcome finish(WorkResult result) {
        return this.<RuntimeException>finish(result, outcome -> {});
    }

    /**
     * As {@link #finish(WorkResult)}, and gives the answer while the operation still counts as in flight: a shutdown
     * waits for it too.
     *
     * @param <X> the type of exception that the answer may throw
     * @param result how it ended
     * @param answer told the outcome, once
     * @return as {@link #finish(WorkResult)}
     * @throws X what the answer threw
     * @throws IllegalStateException if it was finished before
     */
    public <X extends Exception> OperationOutcome finish(WorkResult result, OperationAnswer<X> answer) throws X {
        end();
        try {
            OperationOutcome outcome = recordAndReport(result);
            answer.give(outcome);
            return outcome;
        } finally {
            onEnd.run();
        }
    }

    /**
     * As {@link #finish(WorkResult)}, for an answer that goes out after its record, piece by piece: the operation counts
     * as in flight until {@link #answered()}.
     *
     * @param result how it ended
     * @return as {@link #finish(WorkResult)}; only if recorded may the answer begin
     * @throws IllegalStateException if it was finished before
     */
    public OperationOutcome finishBeforeAnswer(WorkResult result) {
        end();
        return recordAndReport(result);
    }

    /** Ends what counts as in flight after {@link #finishBeforeAnswer}. Otherwise, and when called again, does nothing. */
    public void answered() {
        if (finished.get()) {
            onEnd.run();
        }
    }

    private OperationOutcome recordAndReport(WorkResult result) {
        OperationOutcome outcome = recordOrUnknown(result);
        if (report != null) {
            report.ended(outcome);
        }
        return outcome;
    }

    private OperationOutcome recordOrUnknown(WorkResult result) {
        try {
            return record(result);
        } catch (IdempotencyException e) {
            // The effect may have happened and its record may be missing: never released (rule T7).
            return new OperationOutcome.Unknown(e);
        }
    }

    /**
     * Records that the work threw: the key is spent, since the effect is in doubt, unless the work has declared that
     * there was none.
     *
     * @throws IdempotencyException if the store failed; the claim then stays until its lease ends
     * @throws IllegalStateException if it was finished before
     */
    public void fail() {
        end();
        try {
            if (context.effectFree) {
                store.release(claim);
            } else {
                store.complete(
                        claim, new RecordedResult.NotReplayable(0, "the work failed and its effect is in doubt"));
            }
        } finally {
            if (report != null) {
                report.failed();
            }
            onEnd.run();
        }
    }

    private OperationOutcome record(WorkResult result) {
        boolean free = result instanceof WorkResult.Failed && context.effectFree;
        boolean done = free ? store.release(claim) : store.complete(claim, recorded(result));
        if (done) {
            return new OperationOutcome.Executed(result);
        }
        return new OperationOutcome.Unknown(new ClaimLostException(
                "The lease of " + claim.request().id() + " was lost while its work ran, so its result was not recorded;"
                        + " a later owner's result, if there is one, is the answer: repeat with the same key",
                null));
    }

    private static RecordedResult recorded(WorkResult result) {
        if (result instanceof WorkResult.Succeeded succeeded) {
            return succeeded.result();
        }
        return result instanceof WorkResult.Refused refused ? refused.result() : ((WorkResult.Failed) result).answer();
    }

    private void end() {
        if (!finished.compareAndSet(false, true)) {
            throw new IllegalStateException("The operation " + claim.request().id() + " was finished before");
        }
        lease.stop();
    }

    private final class Context implements IdempotencyContext {
        private final KeyDerivation derivation;
        private volatile boolean effectFree;

        Context(KeyDerivation derivation) {
            this.derivation = derivation;
        }

        @Override
        public RecordId id() {
            return claim.request().id();
        }

        @Override
        public int attempt() {
            return claim.attempt();
        }

        @Override
        public long fencingToken() {
            return claim.token();
        }

        @Override
        public boolean isLeaseValid() {
            return lease.isValid();
        }

        @Override
        public Optional<Transaction> transaction() {
            return Optional.empty();
        }

        @Override
        public IdempotencyKey derive(String step) {
            return derivation.derive(id(), step);
        }

        @Override
        public void markNoEffect() {
            effectFree = true;
        }
    }
}
