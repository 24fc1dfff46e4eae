package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * The store could not be reached, or not in time; nothing was read and nothing was written.
 *
 * <p>The work did not run. The same call is safe to repeat with the same key.
 */
public final class StoreUnavailableException extends IdempotencyException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what was attempted, what was found and what to do
     * @param cause the exception below, or null when the store itself found it
     */
    public StoreUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
