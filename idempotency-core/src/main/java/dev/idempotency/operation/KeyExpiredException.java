package dev.idempotency.operation;

/**
 * The key's retention is over and only its tombstone is left; the work did not run.
 *
 * <p>Whether this is a late repeat can no longer be told: find out what the first attempt did before using a new key.
 */
public final class KeyExpiredException extends OperationException {
    private static final long serialVersionUID = 1L;

    KeyExpiredException() {
        super(
                false,
                "The record of the key has expired: find out whether the operation was done, then use a new key if it was not",
                null);
    }
}
