package dev.idempotency.spi;

import java.time.Duration;
import java.util.Collection;
import java.util.List;

/**
 * An outbox whose buckets are leased to relays in ranges: a row is read by the holder of its bucket alone and is written
 * only once, when it is published. The ability behind ordered relaying.
 *
 * <p><b>Transaction:</b> each method is one short transaction of its own.<br>
 * <b>Concurrency:</b> a range has one holder at a time; taking it over raises its epoch. Every mark carries owner and
 * epoch and passes over rows of ranges that were lost, and rows no longer of that event: 0 rows is a normal answer.<br>
 * <b>Durability:</b> committed when the method returns.<br>
 * <b>Failure:</b> as in {@link OutboxStore}; a mark whose outcome is unknown may be repeated.<br>
 * <b>Time source:</b> the store's own clock.
 */
public interface LeasedOutboxStore extends OutboxStore {
    /** Into how many ranges of equal size the buckets are cut; at most this many relays share the work. */
    int SLOTS = 16;

    /**
     * Makes this relay known, or keeps it known, so that relays can share the ranges fairly.
     *
     * @param owner the relay's name, unique among those running; at most 100 characters
     * @param leaseDuration how long it stays known; 1 s to 24 h
     * @return how many relays are known now, this one among them
     */
    int announce(String owner, Duration leaseDuration);

    /**
     * Takes ranges that nobody holds or whose lease has ended.
     *
     * @param owner the relay
     * @param leaseDuration how long the leases last; 1 s to 24 h
     * @param most how many ranges to take at most, at least 1
     * @return the leases got; empty if every range has a holder
     */
    List<BucketLease> acquire(String owner, Duration leaseDuration, int most);

    /**
     * Makes leases end this long from now, those of them that are still held and have not ended.
     *
     * @param owner the relay
     * @param leases what the relay believes to hold
     * @param leaseDuration how long they last from now; 1 s to 24 h
     * @return those that were extended; the others are lost
     */
    List<BucketLease> extend(String owner, Collection<BucketLease> leases, Duration leaseDuration);

    /**
     * Gives leases back, those of them that are still held.
     *
     * @param owner the relay
     * @param leases which
     * @return how many were given back
     */
    int release(String owner, Collection<BucketLease> leases);

    /**
     * Makes this relay unknown again, so that the others share its part at once.
     *
     * @param owner the relay
     */
    void withdraw(String owner);

    /**
     * Reads unfinished rows of the leased ranges, due or not, in the order of their sequence numbers.
     *
     * @param leases which ranges; at least one
     * @param query which rows
     * @return the rows
     */
    List<OutboxRow> read(Collection<BucketLease> leases, OutboxQuery query);

    /**
     * Marks rows as published, or deletes them, where their range is still held.
     *
     * @param owner the relay
     * @param leases the leases under which the rows were read
     * @param ids the rows; at least one
     * @param rows what becomes of them
     * @return how many were marked
     */
    int markPublished(String owner, Collection<BucketLease> leases, List<OutboxRowId> ids, PublishedRows rows);

    /**
     * Counts a failed attempt of each row where its range is still held: pending again after a while, or dead.
     *
     * @param owner the relay
     * @param leases the leases under which the rows were read
     * @param failures the rows; at least one
     * @return how many were marked
     */
    int markFailed(String owner, Collection<BucketLease> leases, List<OutboxFailure> failures);
}
