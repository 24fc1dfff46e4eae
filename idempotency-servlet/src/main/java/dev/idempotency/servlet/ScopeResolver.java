package dev.idempotency.servlet;

import dev.idempotency.Scope;
import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;

/** Tells in which scope the key of a request is valid; users implement it where the defaults do not fit. */
@FunctionalInterface
public interface ScopeResolver {
    /**
     * Returns the scope of the request's key.
     *
     * <p>Called before anything is looked up, on the request's thread. If it throws, the request is refused with {@link
     * ProblemCode#SCOPE_UNRESOLVED}: a caller that cannot be told must not get another caller's answer.
     *
     * @param request the request
     * @param operation the operation's name: the one of the {@link dev.idempotency.Idempotent} annotation, or method and
     *     concrete path
     * @return the scope
     */
    Scope resolve(HttpServletRequest request, String operation);

    /**
     * Returns the default: the container's user principal, and all callers without one in a namespace of their own.
     *
     * <p>A request that has no principal and yet carries credentials ({@code Authorization}, {@code Cookie} or a client's
     * certificate) is refused: somebody else than the container tells its callers apart, so in one namespace they would
     * see each other's answers. Where that is so, name the caller with a resolver of your own, {@code (request,
     * operation) -> Scope.ofPrincipal(callerOf(request), operation)}; where credentials mean nothing to the operation,
     * use {@link #anonymous()}.
     *
     * @return the resolver
     */
    static ScopeResolver byPrincipal() {
        return (request, operation) -> {
            Principal principal = request.getUserPrincipal();
            if (principal != null) {
                return Scope.ofPrincipal(principal.getName(), operation);
            }
            Credentials.requireNone(request);
            return Scope.anonymous(operation);
        };
    }

    /**
     * Returns a resolver under which nobody is known: for operations that treat all callers alike whatever credentials
     * they carry. Whoever presents a key and the same request gets its answer.
     *
     * @return the resolver
     */
    static ScopeResolver anonymous() {
        return (request, operation) -> Scope.anonymous(operation);
    }

    /**
     * Returns a resolver under which all callers of an operation share their keys: whoever presents a key gets its
     * answer.
     *
     * @return the resolver
     */
    static ScopeResolver sharedByAllCallers() {
        return (request, operation) -> Scope.shared(operation);
    }
}
