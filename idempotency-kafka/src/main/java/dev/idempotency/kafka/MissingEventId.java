package dev.idempotency.kafka;

/** What a consumer does about a record in which no event id is found; never does it make one up. */
public enum MissingEventId {
    /**
     * Hold the partition at the record, and say so in the log, until the record or the configuration is cured. The
     * default where events are told apart by their ids.
     */
    FAIL,
    /** Park the record at once. */
    PARK,
    /**
     * Take topic, partition and offset for the id. Duplicates from the producer's side are then not seen. The default
     * where events are told apart by their offsets alone.
     */
    POSITION
}
