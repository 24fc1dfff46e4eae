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
     * <p>What is on its way already is not called back. If the delivery of an event fails after later events of its key were
     * handed to the broker's client, those may appear before it: after an outage that is longer than the publisher's {@link
     * dev.idempotency.spi.OutboxPublisher#deliveryTimeout delivery timeout} and ends while they are still tried.
     */
    KEY
}
