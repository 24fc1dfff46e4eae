package dev.idempotency.operation;

/**
 * The work ran, but its transaction was not committed: nothing of it is left and the key is free. Repeat it.
 *
 * <p>The cause says why. Conflicts with other transactions have been retried before.
 */
public final class OperationNotCommittedException extends OperationException {
    private static final long serialVersionUID = 1L;

    OperationNotCommittedException(Throwable cause) {
        super(true, "The work was rolled back, and the key is free: repeat it with the same key", cause);
    }
}
