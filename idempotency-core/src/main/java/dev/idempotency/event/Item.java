package dev.idempotency.event;

import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.PartitionAssignment;

/** One delivery with what is needed to leave it behind. */
record Item<E>(PartitionAssignment assignment, Delivery<E> delivery, long next) {
    EventPartition partition() {
        return assignment.partition();
    }
}
