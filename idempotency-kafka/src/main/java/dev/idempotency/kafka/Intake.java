package dev.idempotency.kafka;

import dev.idempotency.EventId;
import dev.idempotency.event.Delivery;
import dev.idempotency.event.PartitionDeliveries;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.PartitionAssignment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes of what one poll has brought what is to be processed now; on the polling thread. */
final class Intake {
    private static final Logger log = LoggerFactory.getLogger(Intake.class);

    private static final Comparator<TopicPartition> IN_ORDER =
            Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition);

    private final Settings settings;
    private final Consumer<byte[], byte[]> consumer;
    private final Lanes lanes;
    private final Assignments assignments;
    private final Settlement settlement;

    Intake(
            Settings settings,
            Consumer<byte[], byte[]> consumer,
            Lanes lanes,
            Assignments assignments,
            Settlement settlement) {
        this.settings = settings;
        this.consumer = consumer;
        this.lanes = lanes;
        this.assignments = assignments;
        this.settlement = settlement;
    }

    /**
     * Takes what can be processed, in the order of partitions and offsets. What a lane leaves out is polled again, once it is
     * rewound.
     *
     * @param touched gets the lanes whose records were polled
     * @param proceed asked before each transaction
     * @param inHand told which partitions are worked at, before anything is done
     */
    List<PartitionDeliveries<Received>> take(
            ConsumerRecords<byte[], byte[]> records,
            List<Lane> touched,
            BooleanSupplier proceed,
            java.util.function.Consumer<Set<TopicPartition>> inHand) {
        for (TopicPartition topicPartition :
                records.partitions().stream().sorted(IN_ORDER).toList()) {
            Lane lane = lanes.find(topicPartition);
            long first = records.records(topicPartition).get(0).offset();
            PartitionAssignment assignment = lane == null ? null : lane.assignment();
            if (lane == null || assignment == null) {
                consumer.seek(topicPartition, first);
            } else if (isBehind(assignment, first)) {
                wentBack(lane, assignment, first);
            } else {
                lane.startAt(first);
                touched.add(lane);
            }
        }
        inHand.accept(Lanes.partitions(touched));
        List<PartitionDeliveries<Received>> deliveries = new ArrayList<>();
        for (Lane lane : touched) {
            List<Delivery<Received>> received = new ArrayList<>();
            PartitionAssignment assignment = lane.assignment();
            if (assignment != null) {
                records.records(lane.topicPartition())
                        .forEach(record -> received.add(delivery(lane, assignment.partition(), record)));
            }
            take(lane, received, proceed, deliveries);
        }
        return deliveries;
    }

    /** Parks what has to wait behind its key, as long as that comes first, and takes the rest up to the next such one. */
    private void take(
            Lane lane,
            List<Delivery<Received>> received,
            BooleanSupplier proceed,
            List<PartitionDeliveries<Received>> deliveries) {
        long end = consumer.position(lane.topicPartition());
        int from = 0;
        while (from < received.size() && lane.mayWait(key(received.get(from)))) {
            PartitionAssignment assignment = lane.assignment();
            Delivery<Received> delivery = received.get(from);
            if (assignment == null || !proceed.getAsBoolean()) {
                return;
            }
            if (!settlement.parkBehind(lane, assignment, delivery, next(received, from, end))) {
                break;
            }
            if (lane.position() <= delivery.offset()) {
                return;
            }
            from++;
        }
        PartitionAssignment assignment = lane.assignment();
        if (assignment == null || from == received.size()) {
            return;
        }
        int to = from + 1;
        while (to < received.size() && !lane.mayWait(key(received.get(to)))) {
            to++;
        }
        deliveries.add(new PartitionDeliveries<>(assignment, received.subList(from, to), next(received, to - 1, end)));
    }

    private static byte @Nullable [] key(Delivery<Received> delivery) {
        return delivery.event().record().key();
    }

    private static long next(List<Delivery<Received>> received, int index, long end) {
        return index + 1 < received.size() ? received.get(index + 1).offset() : end;
    }

    private static boolean isBehind(PartitionAssignment assignment, long first) {
        Long next = assignment.nextOffset();
        return next != null && first < next;
    }

    /**
     * Kafka hands out what the database says is processed. Either the topic was deleted and created again, which a new
     * assignment finds out, or its log was cut.
     */
    private void wentBack(Lane lane, PartitionAssignment assignment, long offset) {
        if (lane.asksWhetherItsTopicWasReplaced()) {
            assignments.unassign(List.of(assignment.partition()));
            return;
        }
        log.error(
                "The consumer {} got offset {} of {}, where the database is at {}: the topic's log was cut. Nothing is"
                        + " processed there until the offset in the database or the topic is put right, for instance by"
                        + " setting the group's offset in Kafka while no consumer runs",
                settings.name(),
                offset,
                lane.topicPartition(),
                assignment.nextOffset());
        consumer.seek(lane.topicPartition(), lane.position());
        lanes.pause(lane, settings.retry().maxDelay());
    }

    private Delivery<Received> delivery(Lane lane, EventPartition partition, ConsumerRecord<byte[], byte[]> record) {
        return delivery(settings, partition, record, lane.attempt(record.offset()));
    }

    static Delivery<Received> delivery(
            Settings settings, EventPartition partition, ConsumerRecord<byte[], byte[]> record, int attempt) {
        EventId id = null;
        RejectedRecordException rejection = null;
        try {
            id = settings.eventIds().extract(record).orElse(null);
        } catch (RuntimeException e) {
            rejection = new RejectedRecordException("The record's event id cannot be read: " + e.getMessage(), e);
        }
        if (id == null && rejection == null && settings.missingEventId() != MissingEventId.POSITION) {
            rejection = new RejectedRecordException("The record has no event id in any of the configured places", null);
        }
        return new Delivery<>(
                id != null ? id : positionId(partition, record.offset()),
                record.offset(),
                attempt,
                new Received(record, rejection));
    }

    private static EventId positionId(EventPartition partition, long offset) {
        return EventId.of("position:" + partition.topicId() + ":" + partition.number() + ":" + offset);
    }
}
