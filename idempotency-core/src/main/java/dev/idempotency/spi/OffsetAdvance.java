package dev.idempotency.spi;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One step of a partition's offset, valid only from where its owner believes it to be.
 *
 * @param partition the partition
 * @param epoch the epoch of the owner's assignment
 * @param from the offset as the owner knows it, null if there was none
 * @param to the next offset to be processed once the transaction has committed
 */
public record OffsetAdvance(
        EventPartition partition, long epoch, @Nullable Long from, long to) {
    /**
     * Checks the parts.
     *
     * @throws IllegalArgumentException if the offset is negative
     */
    public OffsetAdvance {
        Objects.requireNonNull(partition, "partition");
        if (to < 0) {
            throw new IllegalArgumentException("An offset must not be negative, but is " + to);
        }
    }
}
