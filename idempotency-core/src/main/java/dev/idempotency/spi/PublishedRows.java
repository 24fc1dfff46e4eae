package dev.idempotency.spi;

/** What becomes of a row once its event is published. */
public enum PublishedRows {
    /** The row is deleted by the statement that marks it: the cheapest, and nothing is left to clean up. */
    DELETE,
    /** The row stays as PUBLISHED for operators to see, until the clean-up job deletes it after its retention. */
    KEEP
}
