package dev.idempotency.operation;

/**
 * The operation is over, but its result cannot be given again; the work did not run and never will.
 *
 * <p>Look the effect up in the application's own data.
 */
public final class ResultUnavailableException extends OperationException {
    private static final long serialVersionUID = 1L;

    /** Why the result was not kept. */
    private final String reason;

    ResultUnavailableException(String reason) {
        super(false, "The operation is over, and its result cannot be given again: " + reason, null);
        this.reason = reason;
    }

    /**
     * Returns why the result was not kept.
     *
     * @return the reason in the record, for people
     */
    public String reason() {
        return reason;
    }
}
