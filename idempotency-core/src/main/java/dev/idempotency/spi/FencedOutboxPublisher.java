package dev.idempotency.spi;

/**
 * A publisher whose broker itself refuses what a former holder of a range of buckets still sends; a broker's adapter
 * implements it, relays that lease call it.
 *
 * <p>A lease cannot stop what is under way to the broker: a relay that was paused beyond its lease may send on when it
 * wakes. Here the holder of a range takes it over at the broker, too, before it sends the first of its events, and from
 * then on nothing arrives that an earlier holder sends.
 *
 * <p><b>Order:</b> as in {@link OutboxPublisher}, per range: after a failure, what was handed over for the same range before
 * its callback is answered {@link PublishOutcome.Kind#FATAL}.<br>
 * <b>Failure:</b> an event of a range that was not taken over, or was taken over by somebody else since, is answered {@link
 * PublishOutcome.Kind#FATAL}, and nothing of it arrives.
 */
public interface FencedOutboxPublisher extends OutboxPublisher {
    /**
     * Takes a range over, so that its earlier holders are refused; does nothing if this publisher holds it already and was
     * not refused since. Called while the range's lease is held; blocks while the broker answers.
     *
     * @param slot the range, 0 to {@link LeasedOutboxStore#SLOTS} - 1
     * @throws RuntimeException if the broker does not answer or refuses; the range is not held then
     */
    void takeOver(int slot);

    /**
     * Forgets a range whose lease is lost or given back. Called when nothing of it is under way, or it does not matter.
     *
     * @param slot the range
     */
    void leave(int slot);
}
