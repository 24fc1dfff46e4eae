package dev.idempotency.operation;

import org.jspecify.annotations.Nullable;

/**
 * The operation is over, and this version of the application cannot read its result; the work did not run and never
 * will.
 *
 * <p>Let the codec read the format too, with {@link ResultCodec#alsoReading}, and repeat: the record is unchanged.
 */
public final class ResultUnreadableException extends OperationException {
    private static final long serialVersionUID = 1L;

    /** The name of the format. */
    private final String format;

    /**
     * Creates the exception.
     *
     * @param format the format that stands in the record, or the empty string if none does
     * @param message what was found and what to do; no part of the result
     * @param cause what the decoder threw, or null
     */
    public ResultUnreadableException(String format, String message, @Nullable Throwable cause) {
        super(false, message, cause);
        this.format = format;
    }

    /**
     * Returns the format that stands in the record.
     *
     * @return its name; the empty string if the record was not written by a typed operation
     */
    public String format() {
        return format;
    }
}
