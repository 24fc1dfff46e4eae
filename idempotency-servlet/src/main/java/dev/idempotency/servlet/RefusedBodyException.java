package dev.idempotency.servlet;

import dev.idempotency.IdempotencyException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A body of which no fingerprint can be made; a {@link FingerprintFunction} throws it, and the filter answers the client
 * with its code.
 *
 * <p>Nothing was looked up and nothing was done.
 */
public final class RefusedBodyException extends IdempotencyException {
    private static final long serialVersionUID = 1L;

    /** The answer to the client. */
    private final ProblemCode code;

    /** What is wrong with the body, without any of it. */
    private final String detail;

    /**
     * Creates the exception.
     *
     * @param code {@link ProblemCode#MALFORMED_BODY} or {@link ProblemCode#BODY_TOO_LARGE}
     * @param detail what is wrong, for the client; no part of the body
     * @param cause what a parser threw, or null
     * @throws IllegalArgumentException if the code is another
     */
    public RefusedBodyException(ProblemCode code, String detail, @Nullable Throwable cause) {
        super(detail, cause);
        if (code != ProblemCode.MALFORMED_BODY && code != ProblemCode.BODY_TOO_LARGE) {
            throw new IllegalArgumentException("A body is refused as MALFORMED_BODY or BODY_TOO_LARGE, not as " + code);
        }
        this.code = code;
        this.detail = Objects.requireNonNull(detail, "detail");
    }

    /**
     * Returns what the client is told.
     *
     * @return the code
     */
    public ProblemCode code() {
        return code;
    }

    /**
     * Returns what is wrong, for the client.
     *
     * @return the text; no part of the body
     */
    public String detail() {
        return detail;
    }
}
