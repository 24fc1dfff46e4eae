package dev.idempotency;

import dev.idempotency.spi.ClaimOutcome;
import java.util.Optional;

/** Translates what a store found into what the caller is told. */
final class Outcomes {
    private Outcomes() {}

    /** The outcome of a claim that was not acquired; empty when it was. */
    static Optional<OperationOutcome> ofClaim(ClaimOutcome outcome) {
        if (outcome instanceof ClaimOutcome.Completed completed) {
            return Optional.of(
                    completed.result() instanceof RecordedResult.Replayable replayable
                            ? new OperationOutcome.Replayed(replayable)
                            : new OperationOutcome.Unavailable((RecordedResult.NotReplayable) completed.result()));
        }
        if (outcome instanceof ClaimOutcome.InProgress inProgress) {
            return Optional.of(new OperationOutcome.InProgress(inProgress.retryAfter()));
        }
        if (outcome instanceof ClaimOutcome.Mismatch) {
            return Optional.of(new OperationOutcome.Mismatch());
        }
        if (outcome instanceof ClaimOutcome.Expired) {
            return Optional.of(new OperationOutcome.Expired());
        }
        return outcome instanceof ClaimOutcome.Abandoned
                ? Optional.of(new OperationOutcome.Abandoned())
                : Optional.empty();
    }
}
