package dev.idempotency.kafka;

import dev.idempotency.spi.PartitionAssignment;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** What the polling thread knows of one partition that Kafka has assigned to it. */
final class Lane {
    private static final long UNKNOWN = -1;

    private final TopicPartition topicPartition;
    private final int suspectRecords;
    private @Nullable PartitionAssignment assignment;
    private @Nullable PartitionAssignment owned;
    private long position = UNKNOWN;
    private long committed = UNKNOWN;
    private long failedOffset = UNKNOWN;
    private int failures;
    private int losses;
    private long suspectEnd = UNKNOWN;
    private boolean waiting;
    private long resumeAtNanos;
    private long assignAfterPoll;
    private int fences;
    private boolean askedWhetherReplaced;

    /** What only this owner adds to, and replays elsewhere take from. */
    private final Set<ByteBuffer> parkedKeys = new HashSet<>();

    private boolean anyKeyMayBeParked;

    /**
     * Makes a lane.
     *
     * @param suspectRecords how many records of a suspect assignment may be to blame: what a poll brings at the most
     */
    Lane(TopicPartition topicPartition, int suspectRecords) {
        this.topicPartition = topicPartition;
        this.suspectRecords = suspectRecords;
    }

    TopicPartition topicPartition() {
        return topicPartition;
    }

    /** The right to advance the partition in the store; null until it is taken, and after it was found lost. */
    @Nullable
    PartitionAssignment assignment() {
        return assignment;
    }

    /**
     * Begins to work under an assignment.
     *
     * @return true if the topic was deleted and created again since the last one
     */
    boolean assigned(PartitionAssignment taken) {
        boolean replaced = owned != null && !owned.partition().equals(taken.partition());
        if (replaced) {
            forgetTopic();
        }
        assignment = taken;
        owned = taken;
        suspectEnd = UNKNOWN;
        waiting = false;
        Long next = taken.nextOffset();
        if (next != null) {
            position = next;
        }
        return replaced;
    }

    /** The topic was deleted and created again: nothing of what was known of it holds. */
    private void forgetTopic() {
        position = UNKNOWN;
        committed = UNKNOWN;
        failedOffset = UNKNOWN;
        failures = 0;
        losses = 0;
        parkedKeys.clear();
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
        if (suspectEnd == UNKNOWN) {
            suspectEnd = offset + suspectRecords;
        }
    }

    void advance(long next) {
        position = next;
        fences = 0;
        askedWhetherReplaced = false;
        if (failedOffset < next) {
            failedOffset = UNKNOWN;
            failures = 0;
            losses = 0;
        }
        PartitionAssignment present = assignment;
        if (present != null) {
            boolean suspect = present.suspect() && next < suspectEnd;
            assignment = new PartitionAssignment(present.partition(), present.epoch(), next, suspect);
        }
    }

    /** Tells, once until the next progress, whether to find out by a new assignment. */
    boolean asksWhetherItsTopicWasReplaced() {
        boolean first = !askedWhetherReplaced;
        askedWhetherReplaced = true;
        return first;
    }

    /** Counts one more failure of the record at this offset and returns how often it has failed. */
    int failed(long offset) {
        begin(offset);
        failures++;
        return failures;
    }

    /** Counts one more loss of the connection while the record at this offset was handled; returns how many there were. */
    int lost(long offset) {
        begin(offset);
        losses++;
        return losses;
    }

    private void begin(long offset) {
        if (offset != failedOffset) {
            failedOffset = offset;
            failures = 0;
            losses = 0;
        }
    }

    int failures() {
        return failures;
    }

    int losses() {
        return losses;
    }

    int attempt(long offset) {
        return offset == failedOffset ? failures + losses + 1 : 1;
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

    /** The processed position, as Kafka is told. */
    OffsetAndMetadata committable() {
        PartitionAssignment last = Objects.requireNonNull(owned, "a lane that has advanced was assigned");
        return CommittedOffset.of(position, last.partition().topicId(), last.epoch());
    }

    // ---- keys that wait

    /** These keys, and if they are not all there are then any key, may have parked events. */
    void setParkedKeys(List<byte[]> keys, boolean all) {
        parkedKeys.clear();
        keys.forEach(this::addParkedKey);
        anyKeyMayBeParked = !all;
    }

    void addParkedKey(byte[] key) {
        parkedKeys.add(ByteBuffer.wrap(key));
    }

    void removeParkedKey(byte[] key) {
        parkedKeys.remove(ByteBuffer.wrap(key));
    }

    /** Tells whether an earlier event of this key may be parked; only the database knows. */
    boolean mayWait(byte @Nullable [] key) {
        return key != null && (anyKeyMayBeParked || parkedKeys.contains(ByteBuffer.wrap(key)));
    }

    void committed(long offset) {
        committed = Math.max(committed, offset);
    }
}
