package dev.idempotency.outbox;

import dev.idempotency.spi.PublishOutcome;
import java.time.Duration;

/**
 * Hears what a relay does; whoever measures relays implements it and gives it to {@link RelayBuilder#listener}.
 *
 * <p>Its methods are called on the relay's own threads and on those of the publisher's client, many at a time, so they must
 * not block. An exception of theirs is logged and changes nothing. They are told topics, numbers and times, and never an
 * event's id, key or content. {@link OutboxMeters} makes meters of it.
 */
public interface RelayListener {
    /**
     * The store has answered a look for events.
     *
     * @param rows how many rows came
     * @param took how long the look took
     */
    default void read(int rows, Duration took) {}

    /**
     * An event that was handed to the publisher has its answer.
     *
     * @param topic where it went
     * @param outcome what became of it
     * @param took how long the answer took
     */
    default void answered(String topic, PublishOutcome outcome, Duration took) {}

    /**
     * A mark was written.
     *
     * @param rows how many rows it was for
     * @param fenced how many of them it passed over because they were no longer held; normal after a lost lease
     * @param took how long the statement took
     */
    default void marked(int rows, int fenced, Duration took) {}

    /**
     * An event was given up.
     *
     * @param topic where it should have gone
     */
    default void dead(String topic) {}

    /**
     * The relay has looked after its leases, or could not, and holds none until it can; relays that claim or lock have none and never call it.
     *
     * @param held how many bucket ranges it holds now
     * @param lost how many of those that it held were taken or have ended since the last look
     */
    default void leases(int held, int lost) {}
}
