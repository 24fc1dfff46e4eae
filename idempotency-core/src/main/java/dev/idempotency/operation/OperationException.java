package dev.idempotency.operation;

import dev.idempotency.IdempotencyException;
import org.jspecify.annotations.Nullable;

/**
 * The root of what {@code execute} throws when it has no result to give; each final class is one thing a caller can act
 * on.
 */
public abstract sealed class OperationException extends IdempotencyException
        permits KeyExpiredException,
                KeyReusedException,
                OperationAbandonedException,
                OperationInProgressException,
                OperationNotCommittedException,
                OperationShuttingDownException,
                OperationUnknownException,
                ResultNotEncodedException,
                ResultUnavailableException,
                ResultUnreadableException {
    private static final long serialVersionUID = 1L;

    /** Whether the same call may succeed later. */
    private final boolean retryable;

    OperationException(boolean retryable, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.retryable = retryable;
    }

    /**
     * Tells whether the same call, repeated later with the same key, can come to a result by itself.
     *
     * @return false if somebody must look at it or change the call first
     */
    public boolean isRetryable() {
        return retryable;
    }
}
