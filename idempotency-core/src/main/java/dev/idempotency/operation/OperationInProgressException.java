package dev.idempotency.operation;

import java.time.Duration;

/**
 * Another attempt owns the operation now; the work did not run. Repeat it after {@link #retryAfter()}.
 */
public final class OperationInProgressException extends OperationException {
    private static final long serialVersionUID = 1L;

    /** How long to wait before the next call. */
    private final Duration retryAfter;

    OperationInProgressException(Duration retryAfter) {
        super(true, "Another attempt with this key is running: repeat it in " + retryAfter, null);
        this.retryAfter = retryAfter;
    }

    /**
     * Returns when to ask again.
     *
     * @return more than zero
     */
    public Duration retryAfter() {
        return retryAfter;
    }
}
