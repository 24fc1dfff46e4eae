package dev.idempotency.servlet;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/** Tells whether a request carries credentials that the container has made no principal of. */
final class Credentials {
    private static final String CERTIFICATES = "jakarta.servlet.request.X509Certificate";

    private Credentials() {}

    /** Thrown for a request whose caller is known to somebody, but not here. Has no stack trace: strangers cause it. */
    static final class UnknownCallerException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        UnknownCallerException(String what) {
            super(
                    "A request without a principal carries " + what + ": callers are told apart by something that"
                            + " ScopeResolver.byPrincipal() does not know, and would share their keys and see each"
                            + " other's answers. Give the filter a resolver, scopes((request, operation) ->"
                            + " Scope.ofPrincipal(callerOf(request), operation)), or ScopeResolver.anonymous() where"
                            + " such credentials mean nothing",
                    null,
                    false,
                    false);
        }
    }

    /**
     * Passes a request of which nothing tells who its caller is.
     *
     * @throws UnknownCallerException if something does; it names the kind and never the value
     */
    static void requireNone(HttpServletRequest request) {
        String found = kind(request);
        if (found != null) {
            throw new UnknownCallerException(found);
        }
    }

    private static @Nullable String kind(HttpServletRequest request) {
        if (request.getHeader("Authorization") != null) {
            return "the header Authorization";
        }
        if (request.getHeader("Cookie") != null) {
            return "the header Cookie";
        }
        return request.getAttribute(CERTIFICATES) == null ? null : "a client's certificate";
    }
}
