package dev.idempotency.spi;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The right to advance one partition, given to one owner and ended by the next; a store makes it.
 *
 * @param partition the partition
 * @param epoch the fencing token: greater than that of every earlier assignment of the partition to this consumer
 * @param nextOffset where to go on, or null if this consumer has never advanced the partition
 * @param suspect true if the owner before has advanced nothing, or began an attempt at an event and told no outcome: the
 *     event that stands here may have ended its process, so attempts are counted before they are made
 */
public record PartitionAssignment(
        EventPartition partition, long epoch, @Nullable Long nextOffset, boolean suspect) {
    /** Checks that the partition is present. */
    public PartitionAssignment {
        Objects.requireNonNull(partition, "partition");
    }

    /**
     * Makes an assignment that is not suspect.
     *
     * @param partition the partition
     * @param epoch the fencing token
     * @param nextOffset where to go on, or null if this consumer has never advanced the partition
     */
    public PartitionAssignment(EventPartition partition, long epoch, @Nullable Long nextOffset) {
        this(partition, epoch, nextOffset, false);
    }
}
