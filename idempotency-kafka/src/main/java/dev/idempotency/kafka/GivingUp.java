package dev.idempotency.kafka;

/** What a consumer does about a record that has failed as often as the retry policy allows. */
public enum GivingUp {
    /**
     * Park the record in the database, in the transaction that moves the consumer past it. Needs a store that is a {@link
     * dev.idempotency.spi.ParkedEventStore}; the default with such a store.
     */
    PARK,
    /** Hold the partition at the record and go on trying at the longest delay; the default with any other store. */
    HOLD
}
