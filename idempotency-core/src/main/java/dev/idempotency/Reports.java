package dev.idempotency;

import dev.idempotency.operation.OperationListener;
import dev.idempotency.operation.OperationReport;
import dev.idempotency.operation.OutcomeKind;
import java.time.Duration;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells the listener what became of a call; whatever the listener does, the call goes on. */
final class Reports {
    private static final Logger log = LoggerFactory.getLogger(Reports.class);

    private final OperationListener listener;
    private final NanoTicker ticker;

    Reports(OperationListener listener, NanoTicker ticker) {
        this.listener = listener;
        this.ticker = ticker;
    }

    /** Begins to measure a call. */
    Call begin(Operation operation) {
        return new Call(operation);
    }

    /** One call; told about once. Used by one thread at a time. */
    final class Call {
        private final Operation operation;
        private final long beganAtNanos = ticker.nanoTime();
        private int asked;

        Call(Operation operation) {
            this.operation = operation;
        }

        void asked() {
            asked++;
        }

        void ended(OperationOutcome outcome) {
            endedAs(kindOf(outcome));
        }

        /** As {@link #ended(OperationOutcome)}, for a call whose answer of an earlier one may be unreadable. */
        void ended(OperationOutcome outcome, Predicate<RecordedResult.Replayable> readable) {
            boolean unreadable =
                    outcome instanceof OperationOutcome.Replayed replayed && !readable.test(replayed.result());
            endedAs(unreadable ? OutcomeKind.UNREADABLE : kindOf(outcome));
        }

        void failed() {
            endedAs(OutcomeKind.FAILED);
        }

        private void endedAs(OutcomeKind kind) {
            Duration elapsed = Duration.ofNanos(ticker.nanoTime() - beganAtNanos);
            try {
                listener.onOutcome(
                        new OperationReport(operation.id().scope().operation(), operation.protection(), kind, elapsed));
            } catch (Exception | LinkageError e) {
                // A listener may throw what it does not declare, and a library of metrics may be incomplete.
                log.warn("The listener failed on {} of {}; the operation is not affected", kind, operation.id(), e);
            }
        }

        private OutcomeKind kindOf(OperationOutcome outcome) {
            if (outcome instanceof OperationOutcome.Executed executed) {
                return executed.result() instanceof WorkResult.Failed ? OutcomeKind.FAILED : OutcomeKind.EXECUTED;
            }
            if (outcome instanceof OperationOutcome.Replayed) {
                return asked > 1 ? OutcomeKind.REPLAYED_AFTER_WAIT : OutcomeKind.REPLAYED;
            }
            if (outcome instanceof OperationOutcome.Unknown unknown) {
                return unknown.cause() instanceof ClaimLostException ? OutcomeKind.LEASE_LOST : OutcomeKind.UNKNOWN;
            }
            return ofRefusal(outcome);
        }

        private static OutcomeKind ofRefusal(OperationOutcome outcome) {
            if (outcome instanceof OperationOutcome.InProgress) {
                return OutcomeKind.IN_PROGRESS;
            }
            if (outcome instanceof OperationOutcome.Mismatch) {
                return OutcomeKind.MISMATCH;
            }
            if (outcome instanceof OperationOutcome.Unavailable) {
                return OutcomeKind.NOT_REPLAYABLE;
            }
            if (outcome instanceof OperationOutcome.Expired) {
                return OutcomeKind.EXPIRED;
            }
            if (outcome instanceof OperationOutcome.Abandoned) {
                return OutcomeKind.ABANDONED;
            }
            if (outcome instanceof OperationOutcome.ShuttingDown) {
                return OutcomeKind.SHUTTING_DOWN;
            }
            return outcome instanceof OperationOutcome.StoreUnavailable
                    ? OutcomeKind.STORE_UNAVAILABLE
                    : OutcomeKind.NOT_COMMITTED;
        }
    }
}
