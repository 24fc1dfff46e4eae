package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * The library's last statement found that it no longer runs in the transaction that began the work (DESIGN rule T2): the
 * server rolled back in between, or somebody ended the transaction with a statement of their own.
 *
 * <p>The transaction must be rolled back. What the work wrote before the loss is gone or, after a textual COMMIT, already
 * committed without its mark: the message says which were possible.
 */
public final class TransactionLostException extends IdempotencyException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what was attempted, what was found and what to do
     * @param cause the exception below, or null when the store itself found it
     */
    public TransactionLostException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
