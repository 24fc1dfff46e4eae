package dev.idempotency.servlet;

import dev.idempotency.Idempotency;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** What an {@link IdempotencyFilter} was built with. */
record FilterSettings(
        Idempotency idempotency,
        String headerName,
        KeySyntax syntax,
        Pattern keyFormat,
        Set<String> methods,
        Predicate<HttpServletRequest> requests,
        boolean annotatedOnly,
        RequestPlan plan,
        ScopeResolver scopes,
        FingerprintFunction fingerprints,
        BufferLimits requestLimits,
        BufferLimits responseLimits,
        int headerLimit,
        Duration maxWait,
        Duration retryAfter,
        String problemTypeBase,
        Map<ProblemCode, Integer> statuses,
        ResponsePolicy policy,
        RefusalListener refusals,
        UnavailableAnswer unavailable) {
    int statusOf(ProblemCode code) {
        return statuses.getOrDefault(code, code.defaultStatus());
    }
}
