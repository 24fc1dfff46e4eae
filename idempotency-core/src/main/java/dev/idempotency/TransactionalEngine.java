package dev.idempotency;

import dev.idempotency.internal.SqlFailures;
import dev.idempotency.operation.TransactionalContext;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.spi.TransactionalIdempotencyStore;
import dev.idempotency.transaction.OutcomeUnknownException;
import dev.idempotency.transaction.RolledBackException;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import dev.idempotency.transaction.TransactionWork;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs an operation under {@link Protection#TRANSACTIONAL}: claim, work and completion in one transaction. */
final class TransactionalEngine {
    private static final Logger log = LoggerFactory.getLogger(TransactionalEngine.class);

    /** How often a lost race is looked at again before the caller is told to come back (rule T10). */
    private static final int MAX_ROUNDS = 5;

    private static final Duration RETRY_AFTER = Duration.ofSeconds(1);

    private final TransactionalIdempotencyStore store;
    private final TransactionRunner runner;
    private final TransactionLimits limits;
    private final KeyDerivation derivation;

    TransactionalEngine(
            TransactionalIdempotencyStore store,
            TransactionRunner runner,
            TransactionLimits limits,
            KeyDerivation derivation) {
        this.store = store;
        this.runner = runner;
        this.limits = limits;
        this.derivation = derivation;
    }

    <X extends Exception> OperationOutcome execute(Operation operation, OperationWork<X> work) throws X {
        ClaimRequest request = request(operation);
        OperationOutcome outcome = new OperationOutcome.InProgress(RETRY_AFTER);
        for (int round = 1; round <= MAX_ROUNDS; round++) {
            Attempt<X> attempt = new Attempt<>(request, work);
            try {
                outcome = runner.run(limits, attempt);
                if (attempt.refused != null) {
                    return recordAlone(request, attempt.refused);
                }
                return attempt.rolledBackByWork ? rolledBackByWork() : outcome;
            } catch (Exception e) {
                if (attempt.phase == Phase.WORKING && !SqlFailures.isConflict(e)) {
                    throw e;
                }
                if (attempt.phase != Phase.WORKING || !mayRunAgain(operation, round)) {
                    outcome = attempt.phase == Phase.WORKING
                            ? afterLostTransaction(request, lostInWork(e))
                            : afterFailure(request, attempt.phase, asOwn(e));
                    if (!isWorthAnotherRound(operation, outcome)) {
                        return outcome;
                    }
                }
                log.debug("Running {} again: its transaction lost against a concurrent one", request.id(), e);
            }
        }
        return outcome;
    }

    /**
     * Outside the work only the store and the runner throw; what is not in their contract is a defect and passes. So does
     * a transaction that somebody else has ended: its work may be committed without a record, and nobody is told that
     * the key is free. After an error that the work swallowed the server will only roll back, so that is certain.
     */
    private static IdempotencyException asOwn(Exception failure) {
        if (failure instanceof IdempotencyException own
                && (!(own instanceof TransactionLostException) || SqlFailures.isInFailedTransaction(own))) {
            return own;
        }
        throw (RuntimeException) failure;
    }

    private OperationOutcome afterFailure(ClaimRequest request, Phase phase, IdempotencyException failure) {
        if (failure instanceof OutcomeUnknownException) {
            return resolveUnknown(request, failure);
        }
        if (phase == Phase.CLAIMING) {
            return failure instanceof StoreConflictException
                    ? new OperationOutcome.InProgress(RETRY_AFTER)
                    : new OperationOutcome.StoreUnavailable(failure);
        }
        return afterLostTransaction(request, failure);
    }

    private static OperationOutcome rolledBackByWork() {
        return new OperationOutcome.NotCommitted(new RolledBackException(
                "The work marked its transaction rollback-only and reported success all the"
                        + " same; it was rolled back: return WorkResult.Failed or Refused instead",
                null));
    }

    private static boolean mayRunAgain(Operation operation, int round) {
        return operation.repeatable() && round < MAX_ROUNDS;
    }

    /** Who lost against another transaction has not failed (rule T12), whether or not its work let that pass. */
    private static RolledBackException lostInWork(Exception conflict) {
        return new RolledBackException(
                "The work's transaction lost against a concurrent one (the cause tells how) and was rolled back: repeat"
                        + " with the same key",
                conflict);
    }

    private static boolean isWorthAnotherRound(Operation operation, OperationOutcome outcome) {
        return operation.repeatable()
                && outcome instanceof OperationOutcome.NotCommitted lost
                && (SqlFailures.isConflict(lost.cause()) || lost.cause() instanceof ClaimLostException);
    }

    /** The transaction is known to be rolled back; a winner's record, if there is one, is the answer. */
    private OperationOutcome afterLostTransaction(ClaimRequest request, IdempotencyException failure) {
        Optional<OperationOutcome> found;
        try {
            found = lookUp(request);
        } catch (IdempotencyException e) {
            failure.addSuppressed(e);
            return new OperationOutcome.NotCommitted(failure);
        }
        return found.filter(outcome -> !(outcome instanceof OperationOutcome.InProgress))
                .orElse(new OperationOutcome.NotCommitted(failure));
    }

    /**
     * Reads the record under the claim's lock: only then does absence prove that the commit did not happen (rule T6).
     */
    private OperationOutcome resolveUnknown(ClaimRequest request, IdempotencyException failure) {
        Optional<OperationOutcome> found;
        try {
            found = lookUp(request);
        } catch (IdempotencyException e) {
            failure.addSuppressed(e);
            return new OperationOutcome.Unknown(failure);
        }
        if (found.isEmpty()) {
            return new OperationOutcome.NotCommitted(failure);
        }
        return found.get() instanceof OperationOutcome.InProgress ? new OperationOutcome.Unknown(failure) : found.get();
    }

    /** What stands in the record's place; empty when the claim could be had, which proves that nothing does. */
    private Optional<OperationOutcome> lookUp(ClaimRequest request) {
        return runner.<Optional<OperationOutcome>, RuntimeException>run(limits, transaction -> {
            transaction.setRollbackOnly();
            return Outcomes.ofClaim(store.claim(transaction, request));
        });
    }

    /** The work has been rolled back; its answer is recorded in a transaction of its own, unless somebody was faster. */
    private OperationOutcome recordAlone(ClaimRequest request, WorkResult.Refused refused) {
        try {
            return runner.<OperationOutcome, RuntimeException>run(limits, transaction -> {
                ClaimOutcome outcome = store.claim(transaction, request);
                if (outcome instanceof ClaimOutcome.Acquired acquired) {
                    store.complete(transaction, acquired.claim(), refused.result());
                    return new OperationOutcome.Executed(refused);
                }
                transaction.setRollbackOnly();
                return overtaken(outcome);
            });
        } catch (OutcomeUnknownException e) {
            return new OperationOutcome.Unknown(e);
        } catch (IdempotencyException e) {
            return new OperationOutcome.NotCommitted(e);
        }
    }

    /** The work has run, so "in progress" must not come back from here: whoever waits on it would run it again. */
    private static OperationOutcome overtaken(ClaimOutcome outcome) {
        return outcome instanceof ClaimOutcome.InProgress
                ? new OperationOutcome.NotCommitted(new StoreConflictException(
                        "The work was rolled back, and before its answer could be recorded another attempt began: repeat"
                                + " with the same key",
                        null))
                : Outcomes.ofClaim(outcome).orElseThrow();
    }

    private static ClaimRequest request(Operation operation) {
        return new ClaimRequest(operation.id(), operation.fingerprint(), operation.retention(), operation.abandoned());
    }

    private enum Phase {
        CLAIMING,
        WORKING,
        COMPLETING
    }

    /** One transaction: claim, work, completion; remembers how far it came. */
    private final class Attempt<X extends Exception> implements TransactionWork<OperationOutcome, X> {
        private final ClaimRequest request;
        private final OperationWork<X> work;
        private Phase phase = Phase.CLAIMING;
        private WorkResult.@Nullable Refused refused;
        private boolean rolledBackByWork;

        Attempt(ClaimRequest request, OperationWork<X> work) {
            this.request = request;
            this.work = work;
        }

        @Override
        public OperationOutcome run(Transaction transaction) throws X {
            ClaimOutcome outcome = store.claim(transaction, request);
            if (!(outcome instanceof ClaimOutcome.Acquired acquired)) {
                transaction.setRollbackOnly();
                return Outcomes.ofClaim(outcome).orElseThrow();
            }
            phase = Phase.WORKING;
            WorkResult result = work.run(new Context(transaction, acquired.claim()));
            phase = Phase.COMPLETING;
            if (result instanceof WorkResult.Succeeded succeeded) {
                complete(transaction, acquired.claim(), succeeded);
            } else {
                transaction.setRollbackOnly();
                refused = result instanceof WorkResult.Refused kept ? kept : null;
            }
            return new OperationOutcome.Executed(result);
        }

        private void complete(Transaction transaction, Claim claim, WorkResult.Succeeded succeeded) {
            if (transaction.isRollbackOnly()) {
                // After a swallowed failure the runner says so itself; otherwise the work asked for it.
                rolledBackByWork = true;
                return;
            }
            transaction.flush();
            store.complete(transaction, claim, succeeded.result());
        }
    }

    private final class Context implements TransactionalContext {
        private final Transaction transaction;
        private final Claim claim;

        Context(Transaction transaction, Claim claim) {
            this.transaction = transaction;
            this.claim = claim;
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
            return true;
        }

        @Override
        public Optional<Transaction> transaction() {
            return Optional.of(transaction);
        }

        @Override
        public <T> T unwrap(Class<T> type) {
            return transaction.unwrap(type);
        }

        @Override
        public void afterCommit(Runnable action) {
            transaction.afterCommit(action);
        }

        @Override
        public IdempotencyKey derive(String step) {
            return derivation.derive(id(), step);
        }

        @Override
        public void markNoEffect() {
            // A failure rolls everything back here, so there is nothing to declare.
        }
    }
}
