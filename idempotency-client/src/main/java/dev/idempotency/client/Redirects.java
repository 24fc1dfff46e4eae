package dev.idempotency.client;

import java.net.URI;
import java.net.http.HttpHeaders;
import java.util.Optional;

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
    ANYWHERE;

    private static final int MOST_HOPS = 5;

    /**
     * Returns where an answer leads, if it is to be followed.
     *
     * @param hops how many redirects have been followed already
     */
    Optional<URI> target(int status, HttpHeaders headers, URI from, int hops) {
        boolean keepsMethod = status == 307 || status == 308;
        if (this == NEVER || !keepsMethod || hops == MOST_HOPS) {
            return Optional.empty();
        }
        return headers.firstValue("Location")
                .flatMap(location -> resolve(from, location))
                .filter(target -> mayLead(Origin.of(from), Origin.of(target)));
    }

    private boolean mayLead(Origin from, Origin to) {
        if (to.equals(from)) {
            return true;
        }
        boolean staysProtected = to.isSecure() || (to.isPlain() && from.isPlain());
        return this == ANYWHERE && staysProtected;
    }

    private static Optional<URI> resolve(URI from, String location) {
        try {
            return Optional.of(from.resolve(location)).filter(target -> target.getHost() != null);
        } catch (IllegalArgumentException noUri) {
            return Optional.empty();
        }
    }
}
