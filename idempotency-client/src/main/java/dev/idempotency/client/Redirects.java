package dev.idempotency.client;

/**
 * Which redirects are followed. Only those are in question that keep method and body (307 and 308); any other is an
 * answer, because following it would be another request.
 */
public enum Redirects {
    /** None: a redirect is the answer. */
    NEVER,
    /** To the same scheme, host and port, with the same key and body. */
    SAME_ORIGIN,
    /**
     * Anywhere but from {@code https} to {@code http}. Another origin gets neither the key nor {@code Authorization}, {@code
     * Proxy-Authorization} or {@code Cookie}; since nothing protects that request, it is never repeated.
     */
    ANYWHERE
}
