package dev.idempotency.servlet;

import dev.idempotency.RecordedResult;
import dev.idempotency.WorkResult;
import java.util.Set;

/** Decides by the handler's status, or by its own word, what is kept of a request. */
final class ResponsePolicy {
    /** Refusals that another attempt may escape: credentials, time-outs, ordering and load. */
    private static final Set<Integer> TRANSIENT_REFUSALS = Set.of(401, 403, 408, 425, 429);

    WorkResult decide(IdempotentRequest.Decision decision, int status, RecordedResult result) {
        return switch (decision) {
            case COMMIT -> new WorkResult.Succeeded(result);
            case ROLL_BACK_AND_KEEP -> new WorkResult.Refused(result);
            case ROLL_BACK_AND_FORGET -> new WorkResult.Failed(result);
            case BY_STATUS -> byStatus(status, result);
        };
    }

    private static WorkResult byStatus(int status, RecordedResult result) {
        if (status < 400) {
            return new WorkResult.Succeeded(result);
        }
        return status < 500 && !TRANSIENT_REFUSALS.contains(status)
                ? new WorkResult.Refused(result)
                : new WorkResult.Failed(result);
    }
}
