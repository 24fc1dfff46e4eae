package dev.idempotency.transaction;

import dev.idempotency.IdempotencyException;

/**
 * The server refused the commit and rolled the transaction back: a deferred constraint, a serialization failure.
 *
 * <p>Nothing was written and the key or event is free again; the cause is the driver's exception.
 */
public final class CommitFailedException extends IdempotencyException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what was attempted and found
     * @param cause the driver's exception
     */
    public CommitFailedException(String message, Throwable cause) {
        super(message, cause);
    }
}
