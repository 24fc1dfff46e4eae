package dev.idempotency.operation;

/**
 * The process is shutting down; the work did not run and no record was made. Repeat it, at another instance.
 */
public final class OperationShuttingDownException extends OperationException {
    private static final long serialVersionUID = 1L;

    OperationShuttingDownException() {
        super(true, "The process is shutting down, so the operation was not begun: repeat it with the same key", null);
    }
}
