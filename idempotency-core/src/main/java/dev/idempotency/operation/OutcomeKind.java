package dev.idempotency.operation;

/** What became of a call, in one word; the name in lower case is a good tag for a metric. */
public enum OutcomeKind {
    /** The work ran, and what it said is recorded. */
    EXECUTED,
    /** The work ran and failed: it threw, or said so itself. */
    FAILED,
    /** A repeat got the first answer. */
    REPLAYED,
    /** A repeat waited for the running attempt and got its answer. */
    REPLAYED_AFTER_WAIT,
    /** Another attempt runs. */
    IN_PROGRESS,
    /** The key was used with another fingerprint. */
    MISMATCH,
    /** The operation is over, and its answer was not kept. */
    NOT_REPLAYABLE,
    /** The operation is over, and its result cannot be read by this version of the application. */
    UNREADABLE,
    /** Only a tombstone is left of the record. */
    EXPIRED,
    /** The owner of leased work is gone, and nobody knows what it did. */
    ABANDONED,
    /** The process is shutting down. */
    SHUTTING_DOWN,
    /** The store could not be asked, and the work did not run. */
    STORE_UNAVAILABLE,
    /** The work ran and was rolled back; the key is free. */
    NOT_COMMITTED,
    /** The lease was lost while the work ran, and its result was not recorded. */
    LEASE_LOST,
    /** The work ran, and whether it was committed or recorded is not known. */
    UNKNOWN
}
