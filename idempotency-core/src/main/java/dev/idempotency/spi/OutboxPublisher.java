package dev.idempotency.spi;

import java.time.Duration;

/**
 * Brings events to a broker; a broker's adapter implements it, relays call it.
 *
 * <p><b>Order:</b> events of one topic and key, or partition, arrive in the order in which they were handed over; when one
 * fails, none that was handed over after it and before its callback arrives either, unless the failure showed before {@link
 * #publish} returned.<br>
 * <b>Identity:</b> every event carries {@link dev.idempotency.OutboxEvent#EVENT_ID_HEADER}; the same event handed over
 * again arrives again, with the same id.<br>
 * <b>Concurrency:</b> one relay hands events over on one thread; the callback may come on any thread, also before {@link
 * #publish} returns.<br>
 * <b>Failure:</b> by the callback, never by an exception that leaves the event's fate open.
 */
public interface OutboxPublisher extends AutoCloseable {
    /**
     * Hands an event over to be sent.
     *
     * <p>An event that is larger than the broker takes, or that cannot be sent for another reason that shows without
     * asking the broker, is answered {@link PublishOutcome.Kind#RECORD} before this method returns, and nothing of it
     * is sent.
     *
     * @param row the event
     * @param callback told what became of it, exactly once, at the latest {@link #deliveryTimeout()} after this call
     */
    void publish(OutboxRow row, PublishCallback callback);

    /**
     * Returns the longest time from the call of {@link #publish} to its callback, all blocking and retrying included.
     *
     * <p>A relay refuses to start unless its lease is longer.
     *
     * @return the bound; more than zero, the same for the life of the publisher
     */
    Duration deliveryTimeout();

    /**
     * Replaces a client that has answered {@link PublishOutcome.Kind#FATAL}. What was handed to the old one and has not
     * been answered is answered FATAL.
     */
    void recover();

    /**
     * Ends the publisher; what is under way is answered first, within {@link #deliveryTimeout()}. Only the first call
     * has an effect.
     */
    @Override
    void close();
}
