package dev.idempotency.spi;

import dev.idempotency.ConsumerId;
import java.util.OptionalInt;

/**
 * A store that counts attempts before they are made: the ability by which an event is found that ends the process that
 * handles it, of which no process is left to tell.
 *
 * <p>Counting costs a transaction for each attempt, so it is asked for only while an assignment is {@linkplain
 * PartitionAssignment#suspect() suspect}.
 *
 * <p>Transaction, concurrency, durability, failure and time source are as in {@link ProcessedEventStore}, where not said
 * otherwise.
 */
public interface StartedAttemptStore extends PartitionOffsetStore {
    /**
     * Counts that an attempt at an event begins, in a transaction of its own that is committed when the method returns.
     *
     * <p>Repeating it under the same assignment counts once: as long as the process lives, its attempts have outcomes.
     *
     * @param consumer a registered consumer
     * @param assignment the right to advance the partition
     * @param offset where the event stands
     * @return under how many assignments in a row an attempt at this event began and nothing came of it, this one
     *     included; empty if the assignment has ended, so that the event must not be handled
     */
    OptionalInt start(ConsumerId consumer, PartitionAssignment assignment, long offset);

    /**
     * Forgets the attempts at the event, because the process has lived to see how the last one ended; in a transaction of
     * its own. Not needed when the partition is advanced. Does nothing if the assignment has ended.
     *
     * @param consumer a registered consumer
     * @param assignment the right to advance the partition
     * @param offset where the event stands
     */
    void settle(ConsumerId consumer, PartitionAssignment assignment, long offset);
}
