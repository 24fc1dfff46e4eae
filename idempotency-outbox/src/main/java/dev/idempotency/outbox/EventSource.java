package dev.idempotency.outbox;

import dev.idempotency.spi.OutboxRow;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Where the relay's events come from, one implementation per mode; used by the relay's loop, except where it says so. */
interface EventSource {
    /** Begins what runs beside the loop, such as the renewal of leases. */
    void start();

    /** Takes rows once and has them sent; returns nothing if this relay may take nothing now. */
    @Nullable
    Pass relay(int limit, Set<String> withoutTopics, Sender sender);

    /**
     * Tells why a pass took nothing although nobody asked the store: what the store, when it was asked last, failed with;
     * null if it answers.
     */
    @Nullable
    Throwable failure();

    /** Tells whether a thread of its own writes the marks, at any time; otherwise {@link Sender#settle} does. */
    boolean marksBeside();

    /** Takes rows back that were handed to the sender and not sent, in the order of their numbers. */
    void giveBack(Batch batch, List<OutboxRow> unsent);

    /** Tells whether the right under which the batch was taken stands beyond doubt; a batch ends with the first no. */
    boolean isInForce(Batch batch);

    /**
     * Tells whether the row may be sent even now, after what was heard of others since it was read; once it may not, it
     * may not before it has been read again.
     */
    boolean maySend(OutboxRow row);

    /** Hears of an event that failed and will be tried again; called on any thread, before the next row is sent. */
    void failed(Sent event);

    /** Hears of an event that was given up; called on any thread. */
    void dead(Sent event);

    /** Hears that a mark passed over rows because they were no longer held; called on any thread, before they are forgotten. */
    void fenced();

    /** Forgets what was read, after an exception that may have meant another database. */
    void reset();

    /** Ends what {@link #start} began and gives back every right; called when nothing is on its way any more. */
    void stop(Duration timeout);

    /** What the loop does with a batch. */
    interface Sender {
        /** Sends what may be sent, gives the rest back, and returns whether something was sent. */
        boolean send(Batch batch);

        /** Writes the marks on the caller's thread once everything is answered, or then the marks of what is. */
        void settle(Fence fence, long untilNanos);
    }

    /**
     * What one pass came to.
     *
     * @param sent true if something was sent
     * @param more true if there is reason to look again at once
     * @param nextDueNanos in how many nanoseconds a row that was found waiting becomes due
     */
    record Pass(boolean sent, boolean more, long nextDueNanos) {
        static Pass of(Batch batch, Sender sender) {
            return new Pass(sender.send(batch), batch.more(), batch.nextDueNanos());
        }
    }
}
