package dev.idempotency.transaction;

import dev.idempotency.IdempotencyException;

/**
 * The commit was sent and its answer did not come: the transaction may have become durable, may still become so
 * seconds later, or may be gone (DESIGN rule T6).
 *
 * <p>The connection has been thrown away. Only the record, read under the claim's lock, tells what happened; until then
 * nothing may be taken for failed.
 */
public final class OutcomeUnknownException extends IdempotencyException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what was attempted and found
     * @param cause the driver's exception
     */
    public OutcomeUnknownException(String message, Throwable cause) {
        super(message, cause);
    }
}
