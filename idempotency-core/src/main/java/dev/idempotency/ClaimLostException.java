package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * The claim is no longer this owner's: the fenced statement found no row with its token, or somebody else's record in its
 * place (DESIGN rule T5).
 *
 * <p>The transaction must be rolled back; the record is whatever the present owner makes of it.
 */
public final class ClaimLostException extends IdempotencyException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what was attempted, what was found and what to do
     * @param cause the exception below, or null when the store itself found it
     */
    public ClaimLostException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
