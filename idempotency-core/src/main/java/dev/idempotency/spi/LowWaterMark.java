package dev.idempotency.spi;

/**
 * How far an outbox is known to be finished, and what has to happen before more can be said; a store advances it, a
 * relay keeps it in memory and begins anew whenever it has lost its connection.
 *
 * <p>Sequence numbers are handed out before commit, so a relay may not skip what it has not seen. The mark is safe by
 * this rule: a relay has seen a sequence number, and <em>then</em> takes a transaction id of its own, the fence. Every
 * append that drew a smaller number had a transaction id before it drew, and so one below the fence. Once all
 * transactions up to the fence have ended, all numbers below the one seen are either visible or will never be used.
 * (Comparing with the upper bound of a snapshot instead loses rows: a running transaction may have an id above it.)
 *
 * @param firstLive no row below this sequence number is unfinished, nor will one appear
 * @param visibleBelow every row below this sequence number that there will ever be is visible to a read that begins now
 * @param candidate what {@code visibleBelow} becomes once the fence is passed; 0 if none
 * @param fence the transaction id that has to be passed, in the store's own counting; 0 if none
 */
public record LowWaterMark(long firstLive, long visibleBelow, long candidate, long fence) {
    /**
     * Returns the mark of a relay that knows nothing yet.
     *
     * @return a mark below every row
     */
    public static LowWaterMark unknown() {
        return new LowWaterMark(0, 0, 0, 0);
    }
}
