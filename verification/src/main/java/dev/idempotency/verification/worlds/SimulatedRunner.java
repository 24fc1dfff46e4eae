package dev.idempotency.verification.worlds;

import dev.idempotency.internal.SqlFailures;
import dev.idempotency.transaction.CommitFailedException;
import dev.idempotency.transaction.OutcomeUnknownException;
import dev.idempotency.transaction.RolledBackException;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import dev.idempotency.transaction.TransactionWork;
import org.jspecify.annotations.Nullable;

/** Opens and ends simulated transactions as the contract of a runner says. */
final class SimulatedRunner implements TransactionRunner {
    private final Actor actor;
    private final SeededFault fault;

    SimulatedRunner(Actor actor, SeededFault fault) {
        this.actor = actor;
        this.fault = fault;
    }

    @Override
    public <T extends @Nullable Object, X extends Exception> T run(TransactionLimits limits, TransactionWork<T, X> work)
            throws X {
        SimulatedTransaction transaction = actor.newTransaction().within(limits);
        T value;
        try {
            value = work.run(transaction);
        } catch (Actor.Suspended suspended) {
            throw suspended;
        } catch (Throwable failure) {
            rollBack(transaction, failure);
            if (fault == SeededFault.CONFLICT_COUNTS && SqlFailures.isConflict(failure)) {
                throw new IllegalStateException("The work has failed");
            }
            throw failure;
        }
        if (transaction.isRollbackOnlyByWork()) {
            rollBack(transaction, null);
            return value;
        }
        if (transaction.isLost()) {
            RolledBackException rolledBack = new RolledBackException("The transaction had failed on the way", null);
            rollBack(transaction, rolledBack);
            throw rolledBack;
        }
        commit(transaction);
        transaction.runAfterCommit();
        return value;
    }

    private void commit(SimulatedTransaction transaction) {
        try {
            transaction.commit();
        } catch (DatabaseError e) {
            if (e.kind() == DatabaseError.Kind.COMMIT_UNKNOWN && fault != SeededFault.UNKNOWN_IS_FAILED) {
                throw new OutcomeUnknownException("The commit got no answer", e);
            }
            throw new CommitFailedException("The commit failed", e);
        }
    }

    private static void rollBack(SimulatedTransaction transaction, @Nullable Throwable reason) {
        try {
            transaction.rollBack();
        } catch (DatabaseError e) {
            if (reason != null) {
                reason.addSuppressed(e);
            }
        }
    }
}
