package dev.idempotency.servlet;

/** The stable codes of the answers that the filter gives itself, each with its default status. */
public enum ProblemCode {
    /** The operation requires a key and the request has none: draft section 2.7. */
    MISSING_KEY("missing_key", 400, false, "An Idempotency-Key is required"),
    /** The header is no key: draft sections 2.1 and 2.2. */
    INVALID_KEY("invalid_key", 400, false, "The Idempotency-Key is malformed"),
    /** The body ended before its announced end; nothing was looked up. */
    INCOMPLETE_BODY("incomplete_body", 400, true, "The request's body is incomplete"),
    /** The body is not what its content type says; nothing was looked up. */
    MALFORMED_BODY("malformed_body", 400, false, "The request's body is malformed"),
    /** The body is larger than the service holds; nothing was looked up. */
    BODY_TOO_LARGE("body_too_large", 413, false, "The request's body is too large"),
    /** The key was used for another request: draft section 2.7. */
    KEY_REUSED("key_reused", 422, false, "The Idempotency-Key was used for another request"),
    /** The first request with this key is still being processed: draft section 2.7. */
    IN_PROGRESS("in_progress", 409, true, "A request with this Idempotency-Key is being processed"),
    /** The first request is done, but its response was not kept. */
    RESPONSE_UNAVAILABLE(
            "response_unavailable", 409, false, "The request was processed, its response is not available"),
    /** The owner of the first request vanished; whether its effect happened is not known. */
    ABANDONED("abandoned", 409, false, "The outcome of the first request is not known"),
    /** The key's retention is over; whether this is a late repeat can no longer be told. */
    KEY_EXPIRED("key_expired", 409, false, "The Idempotency-Key has expired"),
    /** The store could not be asked; nothing was done. */
    STORE_UNAVAILABLE("store_unavailable", 503, true, "The request could not be checked and was not processed"),
    /** The work was rolled back; the key is free. */
    NOT_COMMITTED("not_committed", 503, true, "The request was not processed"),
    /** Whether the work was committed is not known; a repeat with the same key finds out. */
    OUTCOME_UNKNOWN("outcome_unknown", 503, true, "The outcome of the request is not known yet"),
    /** The process is shutting down; nothing was done. */
    SHUTTING_DOWN("shutting_down", 503, true, "The service is shutting down"),
    /** The service could not tell whose key this is; nothing was looked up. */
    SCOPE_UNRESOLVED("scope_unresolved", 500, false, "The service could not determine the caller");

    private final String text;
    private final int status;
    private final boolean retryable;
    private final String title;

    ProblemCode(String text, int status, boolean retryable, String title) {
        this.text = text;
        this.status = status;
        this.retryable = retryable;
        this.title = title;
    }

    /**
     * Returns the code as it stands in the problem document.
     *
     * @return lower case with underscores
     */
    public String text() {
        return text;
    }

    /**
     * Returns the status unless the filter was told another.
     *
     * @return the HTTP status
     */
    public int defaultStatus() {
        return status;
    }

    /**
     * Tells whether the same request with the same key may be sent again as it is.
     *
     * @return true if so
     */
    public boolean retryable() {
        return retryable;
    }

    String title() {
        return title;
    }
}
