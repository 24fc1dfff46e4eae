package dev.idempotency.transaction;

import dev.idempotency.IdempotencyException;
import org.jspecify.annotations.Nullable;

/**
 * The work returned normally, but its transaction had failed on the way and was rolled back: an error that the work
 * swallowed had already undone it on the server.
 *
 * <p>Nothing was written. The cause is the first such error that the connection saw.
 */
public final class RolledBackException extends IdempotencyException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what was attempted and found
     * @param cause the first error after which the transaction could not last, or null when none was seen
     */
    public RolledBackException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
