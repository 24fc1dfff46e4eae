package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * A statement of the store lost against a concurrent transaction: a serialization failure, a deadlock, a lock that was
 * not given in time.
 *
 * <p>The transaction must be rolled back and may be run again; this is no failure of the work (DESIGN rule T12).
 */
public final class StoreConflictException extends IdempotencyException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what was attempted, what was found and what to do
     * @param cause the exception below, or null when the store itself found it
     */
    public StoreConflictException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
