package dev.idempotency.kafka;

import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.PartitionAssignment;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** What the polling thread knows of one partition that Kafka has assigned to it. */
final class Lane {
    private static final long UNKNOWN = -1;

    private final TopicPartition topicPartition;
    private @Nullable PartitionAssignment assignment;
    private long position = UNKNOWN;
    private long committed = UNKNOWN;
    private long failedOffset = UNKNOWN;
    private int failures;
    private boolean waiting;
    private long resumeAtNanos;
    private long assignAfterPoll;
    private int fences;

    Lane(TopicPartition topicPartition) {
        this.topicPartition = topicPartition;
    }

    TopicPartition topicPartition() {
        return topicPartition;
    }

    /** The right to advance the partition in the store; null until it is taken, and after it was found lost. */
    @Nullable
    PartitionAssignment assignment() {
        return assignment;
    }

    void assigned(PartitionAssignment taken) {
        assignment = taken;
        waiting = false;
        Long next = taken.nextOffset();
        if (next != null) {
            position = next;
        }
    }

    /**
     * Gives the assignment up; the next is taken after one more poll, which tells whether the partition is still ours.
     *
     * @return how often this has happened since the last progress
     */
    int unassigned(long poll) {
        assignment = null;
        assignAfterPoll = poll;
        fences++;
        return fences;
    }

    boolean needsAssignment(long polls, long nowNanos) {
        return assignment == null && polls > assignAfterPoll && !isWaiting(nowNanos);
    }

    /** The next offset to process; negative while it is Kafka that knows it. */
    long position() {
        return position;
    }

    void startAt(long offset) {
        position = offset;
    }

    void advance(long next) {
        position = next;
        fences = 0;
        if (failedOffset < next) {
            failedOffset = UNKNOWN;
            failures = 0;
        }
        PartitionAssignment present = assignment;
        if (present != null) {
            assignment = new PartitionAssignment(present.partition(), present.epoch(), next);
        }
    }

    EventPartition partition() {
        PartitionAssignment present = assignment;
        if (present == null) {
            throw new IllegalStateException(topicPartition + " has no assignment");
        }
        return present.partition();
    }

    /** Counts one more failure of the record at this offset and returns how often it has failed. */
    int failed(long offset) {
        failures = offset == failedOffset ? failures + 1 : 1;
        failedOffset = offset;
        return failures;
    }

    int attempt(long offset) {
        return offset == failedOffset ? failures + 1 : 1;
    }

    void waitUntil(long nanos) {
        waiting = true;
        resumeAtNanos = nanos;
    }

    boolean isWaiting(long nowNanos) {
        return waiting && resumeAtNanos - nowNanos > 0;
    }

    /** Tells whether a wait has just ended. */
    boolean resumes(long nowNanos) {
        if (!waiting || assignment == null || isWaiting(nowNanos)) {
            return false;
        }
        waiting = false;
        return true;
    }

    long nanosToWait(long nowNanos) {
        return waiting ? Math.max(0, resumeAtNanos - nowNanos) : Long.MAX_VALUE;
    }

    /** Tells whether the processed position is ahead of what Kafka was told; a commit never goes back. */
    boolean isAheadOfCommit() {
        return position > committed;
    }

    void committed(long offset) {
        committed = Math.max(committed, offset);
    }
}
