package dev.idempotency.servlet;

import dev.idempotency.Idempotency;
import dev.idempotency.Protection;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** What an {@link IdempotencyFilter} was built with. */
record FilterSettings(
        Idempotency idempotency,
        String headerName,
        KeySyntax syntax,
        Set<String> methods,
        Predicate<HttpServletRequest> requests,
        boolean keyRequired,
        Protection protection,
        ScopeResolver scopes,
        FingerprintFunction fingerprints,
        BufferLimits requestLimits,
        BufferLimits responseLimits,
        int replayLimit,
        List<String> keptHeaders,
        Duration retention,
        Duration maxWait,
        Duration retryAfter,
        String problemTypeBase,
        Map<ProblemCode, Integer> statuses,
        ResponsePolicy policy) {
    boolean appliesTo(HttpServletRequest request) {
        return methods.contains(request.getMethod()) && requests.test(request);
    }

    int statusOf(ProblemCode code) {
        return statuses.getOrDefault(code, code.defaultStatus());
    }
}
