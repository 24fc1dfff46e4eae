package dev.idempotency.event;

import dev.idempotency.ConsumerId;
import java.time.Duration;
import java.util.Objects;

/**
 * How one transaction with events went, for a {@link ProcessingListener}. It names no event, so that none can become the tag
 * of a metric.
 *
 * @param consumer whose events they are
 * @param kind how it went
 * @param events how many events were in the transaction
 * @param handled how many of them were handled and are committed; 0 unless it is {@link Kind#COMMITTED} or {@link
 *     Kind#REPLAYED}
 * @param duplicates how many had been processed by an earlier transaction; likewise
 * @param repeated how many stood in this transaction a second time; likewise
 * @param elapsed from its beginning to its end
 */
public record ProcessingReport(
        ConsumerId consumer, Kind kind, int events, int handled, int duplicates, int repeated, Duration elapsed) {

    /** How a transaction with events may go. */
    public enum Kind {
        /** Marks, effects and offsets are committed. */
        COMMITTED,
        /** A parked event was replayed, and is committed. */
        REPLAYED,
        /** An event was set aside, and the partition moved past it. */
        PARKED,
        /** Rolled back: one of several events failed, and they will be tried in smaller transactions. */
        SPLIT,
        /** Rolled back: the one event in it failed. */
        FAILED,
        /** Rolled back: the connection was lost while the one event in it was handled, and the database answers. */
        CONNECTION_LOST,
        /** Rolled back: another owner has taken or advanced a partition. */
        FENCED,
        /** Rolled back: lost against concurrent transactions, and run again some times before it is reported. */
        CONFLICT,
        /** The commit got no answer. */
        COMMIT_UNKNOWN,
        /** Rolled back: the database, or another system that a handler needs, cannot be used. */
        UNAVAILABLE
    }

    /** Checks that all parts are present. */
    public ProcessingReport {
        Objects.requireNonNull(consumer, "consumer");
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(elapsed, "elapsed");
    }
}
