package dev.idempotency.client;

/** How a key stands in its header. */
public enum KeyForm {
    /** The value as it is; what most providers document. */
    BARE,
    /**
     * A structured-field string in double quotes (RFC 8941, section 3.3.3), as
     * draft-ietf-httpapi-idempotency-key-header-07, section 2.1, asks for.
     */
    QUOTED
}
