package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * A statement of the store failed for a reason that a repeat will not cure by itself: missing rights, a full disk, a
 * value the table refuses.
 *
 * <p>The transaction must be rolled back; nothing is recorded.
 */
public final class StoreException extends IdempotencyException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what was attempted, what was found and what to do
     * @param cause the exception below, or null when the store itself found it
     */
    public StoreException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
