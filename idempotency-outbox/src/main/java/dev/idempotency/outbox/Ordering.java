package dev.idempotency.outbox;

/** In which order a relay publishes the events of one key. */
public enum Ordering {
    /** In no promised order: an event that has to wait lets those behind it pass. */
    NONE,
    /**
     * The events of one ordering key (else of one key) appear first in the order in which they were appended, provided
     * that their writers follow one another, as those do that lock the row of their aggregate first.
     *
     * <p>An event that is not due yet, or that failed and is tried again, holds back the later events of its key, in
     * every topic; one that was given up does not. A topic that is paused or fails as a whole holds back its own events
     * and no others.
     *
     * <p>An event whose delivery fails after later events of its key were handed to the publisher is not overtaken by them:
     * the {@linkplain dev.idempotency.spi.OutboxPublisher publisher} lets none of them arrive.
     */
    KEY
}
