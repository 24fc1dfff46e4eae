package dev.idempotency.operation;

/**
 * The work returned a result that its codec cannot write.
 *
 * <p>Under {@link dev.idempotency.Protection#TRANSACTIONAL} the work has been rolled back and the key is free; under {@link
 * dev.idempotency.Protection#LEASED} the effect has happened and the key is spent: repeats are told that the result is
 * not available. The cause is what the encoder threw.
 */
public final class ResultNotEncodedException extends OperationException {
    private static final long serialVersionUID = 1L;

    /** The name of the format. */
    private final String format;

    /**
     * Creates the exception.
     *
     * @param format the format that was to be written
     * @param cause what the encoder threw
     */
    public ResultNotEncodedException(String format, Throwable cause) {
        super(false, "The result of the work cannot be written as " + format + ": mend its codec", cause);
        this.format = format;
    }

    /**
     * Returns the format that was to be written.
     *
     * @return its name
     */
    public String format() {
        return format;
    }
}
