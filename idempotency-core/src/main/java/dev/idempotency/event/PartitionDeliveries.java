package dev.idempotency.event;

import dev.idempotency.spi.PartitionAssignment;
import java.util.List;
import java.util.Objects;

/**
 * What was delivered of one partition; adapters make it.
 *
 * @param <E> the type of event
 * @param assignment the right to advance the partition, with the offset from which it is advanced now
 * @param deliveries the events in ascending order of offset
 * @param end the partition's next offset once all of them are processed; greater than the last event's, and not always
 *     by one
 */
public record PartitionDeliveries<E>(PartitionAssignment assignment, List<Delivery<E>> deliveries, long end) {
    /**
     * Copies the list and checks the order.
     *
     * @throws IllegalArgumentException if the offsets do not ascend towards the end
     */
    public PartitionDeliveries {
        Objects.requireNonNull(assignment, "assignment");
        deliveries = List.copyOf(deliveries);
        long previous = -1;
        for (Delivery<E> delivery : deliveries) {
            if (delivery.offset() <= previous) {
                throw new IllegalArgumentException("Deliveries must be in ascending order of offset, but "
                        + delivery.offset() + " follows " + previous + " in " + assignment.partition());
            }
            previous = delivery.offset();
        }
        if (end <= previous) {
            throw new IllegalArgumentException("The end must be greater than the last offset " + previous + " in "
                    + assignment.partition() + ", but is " + end);
        }
    }
}
