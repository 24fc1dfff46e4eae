package dev.idempotency.kafka;

import dev.idempotency.event.Delivery;
import dev.idempotency.event.EventProcessor;
import dev.idempotency.event.ProcessingFailure;
import dev.idempotency.event.ProcessingResult;
import dev.idempotency.spi.EventHeader;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.ParkedEvent;
import dev.idempotency.spi.PartitionAssignment;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Decides what follows from what the processor reports: go on, wait, ask again, or park a record. */
final class Settlement {
    private static final Logger log = LoggerFactory.getLogger(Settlement.class);

    private final Settings settings;
    private final EventProcessor<Received> processor;
    private final Lanes lanes;
    private final Assignments assignments;

    Settlement(Settings settings, EventProcessor<Received> processor, Lanes lanes, Assignments assignments) {
        this.settings = settings;
        this.processor = processor;
        this.lanes = lanes;
        this.assignments = assignments;
    }

    void settle(ProcessingResult<Received> result) {
        result.progress().forEach((partition, next) -> {
            Lane lane = lanes.find(partition);
            if (lane != null) {
                lane.advance(next);
            }
        });
        if (!result.progress().isEmpty()) {
            lanes.troubleOver();
        }
        result.failures().forEach(this::settle);
    }

    private void settle(ProcessingFailure<Received> failed) {
        if (failed instanceof ProcessingFailure.HandlerFailed<Received> handler) {
            handlerFailed(handler);
        } else if (failed instanceof ProcessingFailure.ConnectionLost<Received> loss) {
            connectionLost(loss);
        } else if (failed instanceof ProcessingFailure.StartedTooOften<Received> started) {
            startedTooOften(started);
        } else if (failed instanceof ProcessingFailure.Fenced<Received> fenced) {
            log.info(
                    "The consumer {} is no longer sure of {}: somebody else has taken or advanced them; asks again",
                    settings.name(),
                    fenced.partitions());
            assignments.unassign(fenced.partitions());
        } else if (failed instanceof ProcessingFailure.CommitUnknown<Received> unknown) {
            log.warn(
                    "The consumer {} got no answer to a commit for {}; it looks up what became of it",
                    settings.name(),
                    unknown.partitions(),
                    unknown.cause());
            assignments.unassign(unknown.partitions());
        } else if (failed instanceof ProcessingFailure.Unavailable<Received> unavailable) {
            waitForBetterTimes("cannot use its database or what its handler needs", unavailable.cause());
        } else if (failed instanceof ProcessingFailure.Contended<Received> contended) {
            waitForBetterTimes("lost against concurrent transactions again and again", contended.cause());
        }
    }

    private void waitForBetterTimes(String what, Exception cause) {
        Duration delay = lanes.troubleDelay();
        log.warn("The consumer {} {}; no event is to blame, tries again in {}", settings.name(), what, delay, cause);
        lanes.pauseAll(delay);
    }

    private void handlerFailed(ProcessingFailure.HandlerFailed<Received> failed) {
        Lane lane = lanes.find(failed.partition());
        if (lane == null) {
            return;
        }
        Delivery<Received> delivery = failed.delivery();
        int failures = lane.failed(delivery.offset());
        boolean rejected = delivery.event().rejection() != null;
        boolean exhausted = settings.retry().isExhausted(failures, lane.losses());
        boolean park = rejected
                ? settings.missingEventId() == MissingEventId.PARK
                : exhausted && settings.givingUp().parks();
        if (park) {
            park(lane, delivery, failed.next(), failures, failed.cause());
        } else {
            hold(lane, delivery, rejected || exhausted, failures, failed.cause());
        }
    }

    private void connectionLost(ProcessingFailure.ConnectionLost<Received> lost) {
        Lane lane = lanes.find(lost.partition());
        if (lane == null) {
            return;
        }
        Delivery<Received> delivery = lost.delivery();
        int losses = lane.lost(delivery.offset());
        boolean exhausted = settings.retry().isExhausted(lane.failures(), losses);
        if (exhausted && settings.givingUp().parks()) {
            park(lane, delivery, lost.next(), losses, lost.cause());
        } else {
            hold(lane, delivery, exhausted, losses, lost.cause());
        }
    }

    private void startedTooOften(ProcessingFailure.StartedTooOften<Received> started) {
        Lane lane = lanes.find(started.partition());
        if (lane == null) {
            return;
        }
        IllegalStateException cause = new IllegalStateException("The record was begun " + started.starts()
                + " times, each time by another owner of its partition, and none of them has told how it ended: it ends"
                + " the process that handles it, or takes longer than max.poll.interval.ms");
        if (settings.givingUp().parks()) {
            park(lane, started.delivery(), started.next(), started.starts(), cause);
        } else {
            hold(lane, started.delivery(), true, started.starts(), cause);
        }
    }

    private void hold(Lane lane, Delivery<Received> delivery, boolean forLong, int failures, Exception cause) {
        Duration delay =
                forLong ? settings.retry().maxDelay() : settings.retry().delayAfter(failures);
        log.warn(
                "The consumer {} could not handle the record at {}@{} (failure {}); its partition waits {}",
                settings.name(),
                lane.topicPartition(),
                delivery.offset(),
                failures,
                delay,
                cause);
        lanes.pause(lane, delay);
    }

    private void park(Lane lane, Delivery<Received> delivery, long next, int attempts, Exception cause) {
        PartitionAssignment assignment = lane.assignment();
        if (assignment == null) {
            return;
        }
        ProcessingResult<Received> result = processor.park(
                assignment, parkedEvent(assignment.partition(), delivery, attempts, cause.toString()), next);
        if (result.failures().isEmpty()) {
            byte[] key = delivery.event().record().key();
            if (key != null && settings.givingUp().keepsKeyOrder()) {
                lane.addParkedKey(key);
            }
            lane.advance(next);
            log.warn(
                    "The consumer {} parked the record at {}@{} after {} failures",
                    settings.name(),
                    lane.topicPartition(),
                    delivery.offset(),
                    attempts,
                    cause);
        } else {
            result.failures().forEach(this::settle);
        }
    }

    /**
     * Parks a record untried whose key has an earlier one that is parked.
     *
     * @return false if none is parked any more, so that the record may be handled
     */
    boolean parkBehind(Lane lane, PartitionAssignment assignment, Delivery<Received> delivery, long next) {
        ParkedEvent event =
                parkedEvent(assignment.partition(), delivery, 0, "It waits: an earlier event of its key is parked");
        ProcessingResult<Received> result = processor.parkBehind(assignment, event, next);
        if (!result.progress().isEmpty()) {
            lane.advance(next);
            log.info(
                    "The consumer {} parked the record at {}@{} behind an earlier one of its key",
                    settings.name(),
                    lane.topicPartition(),
                    delivery.offset());
        } else if (result.failures().isEmpty()) {
            lane.removeParkedKey(delivery.event().record().key());
            return false;
        }
        result.failures().forEach(this::settle);
        return true;
    }

    private static ParkedEvent parkedEvent(
            EventPartition partition, Delivery<Received> delivery, int attempts, String reason) {
        ConsumerRecord<byte[], byte[]> record = delivery.event().record();
        List<EventHeader> headers = new ArrayList<>();
        for (Header header : record.headers()) {
            headers.add(new EventHeader(header.key(), header.value()));
        }
        return new ParkedEvent(
                delivery.id(),
                partition,
                delivery.offset(),
                record.key(),
                record.value(),
                headers,
                Instant.ofEpochMilli(Math.max(record.timestamp(), 0)),
                attempts,
                reason);
    }
}
