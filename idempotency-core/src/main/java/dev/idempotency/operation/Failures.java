package dev.idempotency.operation;

import dev.idempotency.IdempotencyException;
import dev.idempotency.OperationOutcome;

/** Names each outcome without a result by its exception. */
final class Failures {
    private Failures() {}

    static IdempotencyException of(OperationOutcome outcome) {
        if (outcome instanceof OperationOutcome.InProgress inProgress) {
            return new OperationInProgressException(inProgress.retryAfter());
        }
        if (outcome instanceof OperationOutcome.Unavailable unavailable) {
            return new ResultUnavailableException(unavailable.result().reason());
        }
        if (outcome instanceof OperationOutcome.StoreUnavailable store) {
            return store.cause();
        }
        if (outcome instanceof OperationOutcome.NotCommitted lost) {
            return new OperationNotCommittedException(lost.cause());
        }
        if (outcome instanceof OperationOutcome.Unknown unknown) {
            return new OperationUnknownException(unknown.cause());
        }
        if (outcome instanceof OperationOutcome.Mismatch) {
            return new KeyReusedException();
        }
        if (outcome instanceof OperationOutcome.Expired) {
            return new KeyExpiredException();
        }
        return outcome instanceof OperationOutcome.Abandoned
                ? new OperationAbandonedException()
                : new OperationShuttingDownException();
    }
}
