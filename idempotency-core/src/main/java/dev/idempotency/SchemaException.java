package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * The store's tables are missing or do not have the columns and unique indexes this version needs.
 *
 * <p>Thrown when a store is built; the message holds the statements that cure it. Nothing was changed.
 */
public final class SchemaException extends IdempotencyException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what was attempted, what was found and what to do
     * @param cause the exception below, or null when the store itself found it
     */
    public SchemaException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
