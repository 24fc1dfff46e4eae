package dev.idempotency.event;

import dev.idempotency.ConsumerId;
import dev.idempotency.event.ProcessingReport.Kind;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells the listener how transactions went; whatever the listener does, the processing goes on. */
record TransactionReports(ConsumerId consumer, ProcessingListener listener) {
    private static final Logger log = LoggerFactory.getLogger(TransactionReports.class);

    /**
     * Tells of one transaction.
     *
     * @param success what it is called if it was committed
     */
    <E> void ended(Attempt<E> attempt, Kind success, int events, long beganAtNanos) {
        if (attempt instanceof Attempt.Nothing<E> || attempt instanceof Attempt.Behind<E>) {
            return;
        }
        Duration elapsed = Duration.ofNanos(System.nanoTime() - beganAtNanos);
        int handled = 0;
        int duplicates = 0;
        int repeated = 0;
        if (attempt instanceof Attempt.Committed<E> committed) {
            handled = committed.handled();
            duplicates = committed.duplicates() - committed.repeated();
            repeated = committed.repeated();
        }
        try {
            listener.onTransaction(new ProcessingReport(
                    consumer, kind(attempt, success, events), events, handled, duplicates, repeated, elapsed));
        } catch (RuntimeException | LinkageError e) {
            // A library of metrics may be incomplete.
            log.warn("The listener of the consumer {} failed; the events are not affected", consumer.value(), e);
        }
    }

    private static <E> Kind kind(Attempt<E> attempt, Kind success, int events) {
        if (attempt instanceof Attempt.Committed<E>) {
            return success;
        }
        if (attempt instanceof Attempt.Failed<E> failed) {
            return events > 1 ? Kind.SPLIT : failed.connectionLost() ? Kind.CONNECTION_LOST : Kind.FAILED;
        }
        ProcessingFailure<E> failure = ((Attempt.Ended<E>) attempt).failure();
        if (failure instanceof ProcessingFailure.Fenced<E>) {
            return Kind.FENCED;
        }
        if (failure instanceof ProcessingFailure.CommitUnknown<E>) {
            return Kind.COMMIT_UNKNOWN;
        }
        return failure instanceof ProcessingFailure.Contended<E> ? Kind.CONFLICT : Kind.UNAVAILABLE;
    }
}
