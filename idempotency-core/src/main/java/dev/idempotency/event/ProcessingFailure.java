package dev.idempotency.event;

import dev.idempotency.spi.EventPartition;
import java.util.Objects;
import java.util.Set;

/**
 * Why some deliveries were not processed; every case is rolled back or unknown, and none is processed in part.
 *
 * @param <E> the type of event
 */
public sealed interface ProcessingFailure<E> {
    /**
     * The handler failed for one event, alone in its transaction; what follows it in its partition has not been tried.
     *
     * @param <E> the type of event
     * @param partition where the event stands
     * @param delivery the event
     * @param next the partition's next offset if this event were left behind
     * @param cause what the handler threw, or what its transaction had come to
     */
    record HandlerFailed<E>(EventPartition partition, Delivery<E> delivery, long next, Exception cause)
            implements ProcessingFailure<E> {
        /** Checks that the parts are present. */
        public HandlerFailed {
            Objects.requireNonNull(partition, "partition");
            Objects.requireNonNull(delivery, "delivery");
            Objects.requireNonNull(cause, "cause");
        }
    }

    /**
     * The connection was lost while the handler ran for one event, alone in its transaction, and the database answers:
     * either the event ends its session, or somebody else ended it meanwhile. Only repetition tells; {@link
     * RetryPolicy#isExhausted} knows how much to forgive. What follows the event in its partition has not been tried.
     *
     * @param <E> the type of event
     * @param partition where the event stands
     * @param delivery the event
     * @param next the partition's next offset if this event were left behind
     * @param cause what the handler threw, or what its transaction had come to
     */
    record ConnectionLost<E>(EventPartition partition, Delivery<E> delivery, long next, Exception cause)
            implements ProcessingFailure<E> {
        /** Checks that the parts are present. */
        public ConnectionLost {
            Objects.requireNonNull(partition, "partition");
            Objects.requireNonNull(delivery, "delivery");
            Objects.requireNonNull(cause, "cause");
        }
    }

    /**
     * Attempts at the event were started as often as they may be, each by another owner of its partition, and none of them
     * has told how it ended: the event ends the process that handles it, or outlasts its ownership. It was not run again.
     *
     * @param <E> the type of event
     * @param partition where the event stands
     * @param delivery the event
     * @param next the partition's next offset if this event were left behind
     * @param starts how many attempts were started
     */
    record StartedTooOften<E>(EventPartition partition, Delivery<E> delivery, long next, int starts)
            implements ProcessingFailure<E> {
        /** Checks that the parts are present. */
        public StartedTooOften {
            Objects.requireNonNull(partition, "partition");
            Objects.requireNonNull(delivery, "delivery");
        }
    }

    /**
     * The partitions' offsets have moved or their epochs have ended: somebody else may own them, or an earlier commit of
     * this owner has become durable. Assign those that are still this consumer's again.
     *
     * @param <E> the type of event
     * @param partitions the fenced ones
     */
    record Fenced<E>(Set<EventPartition> partitions) implements ProcessingFailure<E> {
        /** Copies the set. */
        public Fenced {
            partitions = Set.copyOf(partitions);
        }
    }

    /**
     * The commit was sent and its answer did not come; whether these partitions have advanced only a new assignment
     * tells. Nothing after them was tried.
     *
     * @param <E> the type of event
     * @param partitions the partitions with events in the transaction
     * @param cause what the transaction's runner said
     */
    record CommitUnknown<E>(Set<EventPartition> partitions, Exception cause) implements ProcessingFailure<E> {
        /** Copies the set. */
        public CommitUnknown {
            partitions = Set.copyOf(partitions);
            Objects.requireNonNull(cause, "cause");
        }
    }

    /**
     * The database, or another system the handler needs, cannot be used; no event is to blame. Nothing after this was
     * tried.
     *
     * @param <E> the type of event
     * @param cause what was thrown
     */
    record Unavailable<E>(Exception cause) implements ProcessingFailure<E> {
        /** Checks that the cause is present. */
        public Unavailable {
            Objects.requireNonNull(cause, "cause");
        }
    }

    /**
     * The transaction lost against concurrent ones as often as it may; no event is to blame. Nothing after this was
     * tried.
     *
     * @param <E> the type of event
     * @param cause what was thrown the last time
     */
    record Contended<E>(Exception cause) implements ProcessingFailure<E> {
        /** Checks that the cause is present. */
        public Contended {
            Objects.requireNonNull(cause, "cause");
        }
    }
}
