package dev.idempotency.operation;

/**
 * The work ran, and whether it was committed or recorded is not known (DESIGN rule T6). Repeat it with the same key: that
 * finds out, and never runs it twice.
 *
 * <p>The cause says what is missing.
 */
public final class OperationUnknownException extends OperationException {
    private static final long serialVersionUID = 1L;

    OperationUnknownException(Throwable cause) {
        super(
                true,
                "Whether the operation was done is not known yet: repeat it with the same key, which finds out",
                cause);
    }
}
