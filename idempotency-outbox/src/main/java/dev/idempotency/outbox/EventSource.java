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

    /** Returns rows to send, or nothing if this relay may read nothing now. */
    @Nullable
    Batch next(int limit, Set<String> withoutTopics);

    /** Takes rows back that {@link #next} returned and that were not sent, in the order of their numbers. */
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
}
