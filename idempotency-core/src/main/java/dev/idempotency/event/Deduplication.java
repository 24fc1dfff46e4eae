package dev.idempotency.event;

/** By what a consumer tells an event it has processed from one it has not. */
public enum Deduplication {
    /**
     * By a mark for each event id: also protects against what the producer's side repeats, such as a relay that sent
     * twice or a dead letter that is replayed, for as long as the marks are kept.
     */
    EVENT_ID(true, false),
    /**
     * By a fenced offset for each partition: protects against what the broker repeats, and costs one small update for
     * each transaction. Needs a {@link dev.idempotency.spi.PartitionOffsetStore}.
     */
    OFFSET(false, true),
    /** By both; the default where the store can do both. */
    EVENT_ID_AND_OFFSET(true, true);

    private final boolean byEventId;
    private final boolean byOffset;

    Deduplication(boolean byEventId, boolean byOffset) {
        this.byEventId = byEventId;
        this.byOffset = byOffset;
    }

    /**
     * Tells whether events are marked by their id.
     *
     * @return true if they are
     */
    public boolean byEventId() {
        return byEventId;
    }

    /**
     * Tells whether the offsets of partitions are kept in the store.
     *
     * @return true if they are
     */
    public boolean byOffset() {
        return byOffset;
    }
}
