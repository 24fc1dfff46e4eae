package dev.idempotency.verification.matrix;

import dev.idempotency.IdempotencyException;
import dev.idempotency.transaction.OutcomeUnknownException;
import dev.idempotency.transaction.RolledBackException;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import dev.idempotency.transaction.TransactionWork;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The real runner with the end of a transaction that a mutant wants. */
record MutantRunner(TransactionRunner runner, Site site, Mutant mutant) implements TransactionRunner {
    private static final String FORGET_NEWEST = "DELETE FROM idempotency_record WHERE completed_at ="
            + " (SELECT max(completed_at) FROM idempotency_record)";

    @Override
    public <T extends @Nullable Object, X extends Exception> T run(TransactionLimits limits, TransactionWork<T, X> work)
            throws X {
        List<T> values = new ArrayList<>();
        try {
            return runner.<T, X>run(limits, transaction -> {
                T value = work.run(transaction);
                values.add(value);
                return value;
            });
        } catch (IdempotencyException e) {
            if (mutant == Mutant.COMMIT_IGNORED && !values.isEmpty()) {
                return values.get(0);
            }
            if (mutant == Mutant.UNKNOWN_IS_FAILED && e instanceof OutcomeUnknownException) {
                Sql.update(site.outside(), FORGET_NEWEST);
                throw new RolledBackException("The commit failed, or so this mutant believes", e);
            }
            throw e;
        }
    }
}
