package dev.idempotency.servlet;

/**
 * Told of each request that the filter refuses before its key is looked up; users implement it for metrics and give it to
 * {@link IdempotencyFilterBuilder#refusals}.
 *
 * <p>What becomes of the other requests is told to a {@link dev.idempotency.operation.OperationListener}. It is called before
 * the refusal is sent, on the thread of the request, so it must be quick. What it throws is logged and changes nothing.
 * Implementations are safe for use by many threads.
 */
@FunctionalInterface
public interface RefusalListener {
    /**
     * Takes note of a refusal.
     *
     * @param code why: {@link ProblemCode#MISSING_KEY}, {@link ProblemCode#INVALID_KEY}, {@link
     *     ProblemCode#INCOMPLETE_BODY}, {@link ProblemCode#MALFORMED_BODY}, {@link ProblemCode#BODY_TOO_LARGE} or {@link
     *     ProblemCode#SCOPE_UNRESOLVED}
     */
    void onRefusal(ProblemCode code);
}
