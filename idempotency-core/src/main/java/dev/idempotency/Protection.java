package dev.idempotency;

/** How a key protects its work: what a crash leaves behind, and what may run twice. */
public enum Protection {
    /**
     * Claim, work and completion are one transaction with one commit.
     *
     * <p>A success seen by the caller means that effect and record are committed; effects per key are at most one. A
     * crash rolls all of it back and the next attempt runs at once. Holds only for effects in the database of the
     * record.
     */
    TRANSACTIONAL,

    /**
     * The claim is committed first, with a lease that a heartbeat extends; completion is fenced by the claim's token.
     *
     * <p>For work outside the database and for asynchronous requests. At most one owner is recorded at a time; the work
     * of an owner that was paused beyond its lease may overlap with its successor's, and only one of them completes. A
     * crash leaves the key in progress until the lease ends.
     */
    LEASED
}
