package dev.idempotency.kafka;

/** What a consumer does about a record that has failed as often as the retry policy allows. */
public enum GivingUp {
    /**
     * Park the record in the database, in the transaction that moves the consumer past it. Needs a store that is a {@link
     * dev.idempotency.spi.ParkedEventStore}; the default with such a store.
     */
    PARK,
    /**
     * Park it, and behind it all later records of its key in its partition, untried, until it has been replayed; then each of
     * them in turn. Records without a key wait for nobody. Needs the same store.
     */
    PARK_IN_KEY_ORDER,
    /** Hold the partition at the record and go on trying at the longest delay; the default with any other store. */
    HOLD;

    boolean parks() {
        return this != HOLD;
    }

    boolean keepsKeyOrder() {
        return this == PARK_IN_KEY_ORDER;
    }
}
