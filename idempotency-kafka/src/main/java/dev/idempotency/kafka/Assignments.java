package dev.idempotency.kafka;

import dev.idempotency.IdempotencyException;
import dev.idempotency.event.EventProcessor;
import dev.idempotency.event.ProcessingResult;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.PartitionAssignment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes partitions over in the database when Kafka has assigned them, and gives them up; called inside poll and close,
 * and between polls, on the polling thread.
 */
final class Assignments implements ConsumerRebalanceListener {
    private static final Logger log = LoggerFactory.getLogger(Assignments.class);

    /** So many keys of parked events are known at the most; with more of them the database is asked about every record. */
    private static final int MOST_KEYS = 1_000;

    private final Settings settings;
    private final EventProcessor<Received> processor;
    private final Consumer<byte[], byte[]> consumer;
    private final TopicIds topicIds;
    private final Lanes lanes;
    private final KafkaOffsets offsets;
    private long polls;

    Assignments(
            Settings settings,
            EventProcessor<Received> processor,
            Consumer<byte[], byte[]> consumer,
            TopicIds topicIds,
            Lanes lanes,
            KafkaOffsets offsets) {
        this.settings = settings;
        this.processor = processor;
        this.consumer = consumer;
        this.topicIds = topicIds;
        this.lanes = lanes;
        this.offsets = offsets;
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        List<Lane> taken = new ArrayList<>();
        partitions.forEach(partition -> taken.add(lanes.add(partition)));
        if (!taken.isEmpty()) {
            takeOver(taken);
        }
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        offsets.commitSync(lanes.find(partitions));
        lanes.remove(partitions);
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        lanes.remove(partitions);
    }

    /** Notes that Kafka had its chance to say which partitions are ours no more. */
    void polled() {
        polls++;
    }

    void takeOverWhatIsDue() {
        long now = settings.nanos().getAsLong();
        List<Lane> due = lanes.all().stream()
                .filter(lane -> lane.needsAssignment(polls, now))
                .toList();
        if (!due.isEmpty()) {
            takeOver(due);
        }
    }

    /** Takes partitions over anew whose topic has another identity than the one they were taken over with. */
    void lookForReplacedTopics() {
        Map<String, UUID> now = topicIds.look(settings.nanos().getAsLong(), lanes::topics);
        List<EventPartition> replaced = new ArrayList<>();
        for (Lane lane : lanes.all()) {
            PartitionAssignment assignment = lane.assignment();
            UUID id = now.get(lane.topicPartition().topic());
            if (assignment != null
                    && id != null
                    && !id.equals(assignment.partition().topicId())) {
                replaced.add(assignment.partition());
            }
        }
        unassign(replaced);
    }

    /** Begins a new epoch of each partition and goes to where the database says; on failure they wait, paused. */
    private void takeOver(List<Lane> taken) {
        Map<EventPartition, Lane> byPartition = new HashMap<>();
        try {
            Map<String, UUID> ids = topicIds.resolve(
                    taken.stream().map(lane -> lane.topicPartition().topic()).collect(Collectors.toSet()));
            for (Lane lane : taken) {
                TopicPartition topicPartition = lane.topicPartition();
                UUID id = ids.get(topicPartition.topic());
                if (id == null) {
                    throw new KafkaException("The brokers told no id of the topic " + topicPartition.topic());
                }
                byPartition.put(new EventPartition(topicPartition.topic(), id, topicPartition.partition()), lane);
            }
            Map<TopicPartition, OffsetAndMetadata> committed = offsets.find(taken);
            for (PartitionAssignment assignment : processor.assign(byPartition.keySet(), settings.owner())) {
                Lane lane = byPartition.get(assignment.partition());
                if (lane != null) {
                    begin(lane, assignment, committed.get(lane.topicPartition()));
                }
            }
        } catch (InterruptException e) {
            throw e;
        } catch (IdempotencyException | KafkaException e) {
            Duration delay = lanes.troubleDelay();
            log.warn(
                    "The consumer {} could not take over {} yet; tries again in {}",
                    settings.name(),
                    Lanes.partitions(taken),
                    delay,
                    e);
            taken.forEach(lane -> lanes.pause(lane, delay));
        }
    }

    private void begin(Lane lane, PartitionAssignment taken, @Nullable OffsetAndMetadata committed) {
        PartitionAssignment assignment = honour(lane, taken, committed);
        boolean again = lane.assigned(assignment);
        if (settings.givingUp().keepsKeyOrder()) {
            List<byte[]> keys = processor.findParkedKeys(assignment.partition(), MOST_KEYS);
            lane.setParkedKeys(keys, keys.size() < MOST_KEYS);
        }
        if (assignment.suspect()) {
            log.info(
                    "The owner of {} before has advanced nothing; the consumer {} counts its attempts at the next {}"
                            + " records there, in case one of them ends processes",
                    lane.topicPartition(),
                    settings.name(),
                    settings.maxPollRecords());
        }
        if (lane.position() >= 0) {
            consumer.seek(lane.topicPartition(), lane.position());
        } else if (again || isOfAnotherTopic(assignment, committed)) {
            log.warn(
                    "The topic of {} was deleted and created again; the consumer {} begins with its first record",
                    lane.topicPartition(),
                    settings.name());
            consumer.seekToBeginning(List.of(lane.topicPartition()));
        }
        consumer.resume(List.of(lane.topicPartition()));
    }

    private static boolean isOfAnotherTopic(PartitionAssignment assignment, @Nullable OffsetAndMetadata committed) {
        return committed != null
                && CommittedOffset.isOurs(committed)
                && !CommittedOffset.isOfTopic(committed, assignment.partition().topicId());
    }

    /**
     * An offset in Kafka that is not ours was set by an operator, or by a consumer of another kind in the same group: it is
     * where to go on. It is made ours before anything is processed, because later it would look like a reset of what has been
     * processed since.
     */
    private PartitionAssignment honour(Lane lane, PartitionAssignment taken, @Nullable OffsetAndMetadata committed) {
        if (committed == null
                || CommittedOffset.isOurs(committed)
                || !processor.deduplication().byOffset()) {
            return taken;
        }
        PartitionAssignment moved = taken;
        Long next = taken.nextOffset();
        if (next != null && next != committed.offset()) {
            ProcessingResult<Received> result = processor.moveTo(taken, committed.offset());
            if (result.progress().isEmpty()) {
                throw new KafkaException("The offset " + committed.offset() + " of " + lane.topicPartition()
                        + " that was set in Kafka could not be taken over: " + result.failures());
            }
            log.warn(
                    "The offset of {} was set in Kafka to {}, where the database was at {}; the consumer {} goes on from"
                            + " there. Events that are marked stay processed",
                    lane.topicPartition(),
                    committed.offset(),
                    next,
                    settings.name());
            moved = new PartitionAssignment(taken.partition(), taken.epoch(), committed.offset(), taken.suspect());
        }
        offsets.claim(
                lane, CommittedOffset.of(committed.offset(), taken.partition().topicId(), taken.epoch()));
        return moved;
    }

    /** Gives partitions up that were fenced or whose outcome is unknown; they are taken over again if they stay ours. */
    void unassign(Collection<EventPartition> partitions) {
        for (EventPartition partition : partitions) {
            Lane lane = lanes.find(partition);
            if (lane != null) {
                int times = lane.unassigned(polls);
                // The first time at once; if two consumers keep fencing each other, one of them will be told by Kafka.
                lanes.pause(lane, times == 1 ? Duration.ZERO : settings.retry().delayAfter(times - 1));
            }
        }
    }
}
