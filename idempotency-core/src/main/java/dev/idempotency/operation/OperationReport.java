package dev.idempotency.operation;

import dev.idempotency.Protection;
import java.time.Duration;
import java.util.Objects;

/**
 * What became of one call, for an {@link OperationListener}. It has neither key nor caller, so that none of them can
 * become the tag of a metric.
 *
 * @param operation the operation's name. For requests without a name of their own it is method and path: if paths hold
 *     ids, it is no tag for a metric either
 * @param protection how the key protects the work
 * @param kind what became of the call
 * @param elapsed from the call to its outcome, waiting included
 */
public record OperationReport(String operation, Protection protection, OutcomeKind kind, Duration elapsed) {
    /** Checks that all parts are present. */
    public OperationReport {
        Objects.requireNonNull(operation, "operation");
        Objects.requireNonNull(protection, "protection");
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(elapsed, "elapsed");
    }
}
