package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * The root of every exception this library throws on purpose.
 *
 * <p>A caller that wants to treat all of them alike catches this type; a caller that can act on one situation catches
 * the final class that names it. What each leaves behind is stated on that class.
 */
public abstract class IdempotencyException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception with what was attempted, what was found and what to do.
     *
     * @param message the text for people; it never holds a key, a body or a credential
     * @param cause what went wrong below, or null when the library itself found it
     */
    protected IdempotencyException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
