package dev.idempotency.servlet;

/** Which forms of the {@code Idempotency-Key} header are understood. */
public enum KeySyntax {
    /**
     * The structured-field string of draft-ietf-httpapi-idempotency-key-header-07, section 2.1, and the bare value that
     * clients of today send; both forms of one value are the same key.
     */
    LENIENT,

    /** The structured-field string alone. */
    STRICT
}
