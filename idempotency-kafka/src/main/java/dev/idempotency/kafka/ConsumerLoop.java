package dev.idempotency.kafka;

import dev.idempotency.EventId;
import dev.idempotency.event.Delivery;
import dev.idempotency.event.EventProcessor;
import dev.idempotency.event.PartitionDeliveries;
import dev.idempotency.event.ProcessingResult;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.PartitionAssignment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread of one {@link IdempotentConsumer}: polls, has the records processed, commits offsets to Kafka after the
 * database, and closes the consumer. All work happens between two polls, so nothing is in hand during a rebalance.
 */
final class ConsumerLoop implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(ConsumerLoop.class);

    private static final Comparator<TopicPartition> IN_ORDER =
            Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition);

    private final Settings settings;
    private final EventProcessor<Received> processor;
    private final Consumer<byte[], byte[]> consumer;
    private final TopicIds topicIds;
    private final WakeupGate gate;
    private final Lanes lanes;
    private final KafkaOffsets offsets;
    private final Assignments assignments;
    private final Settlement settlement;

    private final CountDownLatch stopRequested = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);
    private final CountDownLatch drained = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    private volatile Set<TopicPartition> inHand = Set.of();
    private volatile Duration closePatience = KafkaOffsets.PATIENCE;

    ConsumerLoop(
            Settings settings,
            EventProcessor<Received> processor,
            Consumer<byte[], byte[]> consumer,
            TopicIds topicIds) {
        this.settings = settings;
        this.processor = processor;
        this.consumer = consumer;
        this.topicIds = topicIds;
        this.gate = new WakeupGate(consumer);
        this.lanes = new Lanes(settings, consumer);
        this.offsets = new KafkaOffsets(settings.name(), consumer, lanes);
        this.assignments = new Assignments(settings, processor, consumer, topicIds, lanes, offsets);
        this.settlement = new Settlement(settings, processor, lanes, assignments);
    }

    @Override
    public void run() {
        try {
            compareRetention();
            consumer.subscribe(settings.topics(), assignments);
            while (!isStopping()) {
                cycle();
            }
            offsets.commitSync(lanes.all());
        } catch (InterruptException e) {
            // Nobody here interrupts it, and whoever does, a handler perhaps, has ended the consumer.
            failure.set(e);
            log.error(
                    "The thread of the consumer {} was interrupted and stops; no record was skipped",
                    settings.name(),
                    e);
        } catch (RuntimeException | Error e) {
            failure.set(e);
            released.countDown();
            log.error("The consumer {} has failed and stops; no record was skipped", settings.name(), e);
        } finally {
            drained.countDown();
            close();
        }
    }

    private void compareRetention() {
        Duration marks = settings.markRetention();
        if (marks == null) {
            return;
        }
        try {
            StartupChecks.retentionWarning(marks, topicIds.retention(settings.topics()))
                    .ifPresent(log::warn);
        } catch (InterruptException e) {
            throw e;
        } catch (KafkaException e) {
            log.info(
                    "The consumer {} could not compare the retention of its marks with that of its topics",
                    settings.name(),
                    e);
        }
    }

    private void cycle() {
        try {
            assignments.takeOverWhatIsDue();
            lanes.resumeWhatIsDue();
            ConsumerRecords<byte[], byte[]> records = gate.poll(lanes.pollTimeout());
            assignments.polled();
            if (!records.isEmpty() && !isStopping()) {
                process(records);
            }
        } catch (InterruptException | FencedInstanceIdException e) {
            throw e;
        } catch (KafkaException e) {
            // Authorization, authentication, a broken record batch: an operator can cure it while we wait.
            log.warn("The consumer {} could not poll and tries again", settings.name(), e);
            awaitStop(lanes.troubleDelay());
        }
    }

    // ---- records

    private void process(ConsumerRecords<byte[], byte[]> records) {
        long startNanos = settings.nanos().getAsLong();
        List<Lane> touched = new ArrayList<>();
        List<PartitionDeliveries<Received>> deliveries = new ArrayList<>();
        records.partitions().stream().sorted(IN_ORDER).forEach(topicPartition -> {
            List<ConsumerRecord<byte[], byte[]>> received = records.records(topicPartition);
            Lane lane = lanes.find(topicPartition);
            PartitionAssignment assignment = lane == null ? null : lane.assignment();
            if (lane == null || assignment == null) {
                consumer.seek(topicPartition, received.get(0).offset());
            } else if (isBehind(assignment, received)) {
                wentBack(lane, assignment, received.get(0).offset());
            } else {
                lane.startAt(received.get(0).offset());
                touched.add(lane);
                deliveries.add(deliveries(lane, assignment, received));
            }
        });
        inHand = Lanes.partitions(touched);
        try {
            settle(processor.process(deliveries, () -> mayProceed(startNanos)), startNanos);
        } finally {
            lanes.rewind(touched);
            inHand = Set.of();
        }
        offsets.commitAsync();
    }

    private static boolean isBehind(PartitionAssignment assignment, List<ConsumerRecord<byte[], byte[]>> received) {
        Long next = assignment.nextOffset();
        return next != null && received.get(0).offset() < next;
    }

    /** Kafka hands out what the database says is processed: the log was cut, or its offsets began anew. */
    private void wentBack(Lane lane, PartitionAssignment assignment, long offset) {
        log.error(
                "The consumer {} got offset {} of {}, where the database is at {}: the topic's log was cut or replaced."
                        + " Nothing is processed there until the offset in the database or the topic is put right",
                settings.name(),
                offset,
                lane.topicPartition(),
                assignment.nextOffset());
        consumer.seek(lane.topicPartition(), lane.position());
        lanes.pause(lane, settings.retry().maxDelay());
    }

    private boolean mayProceed(long startNanos) {
        return !isStopping()
                && settings.nanos().getAsLong() - startNanos
                        < settings.processingBudget().toNanos();
    }

    private PartitionDeliveries<Received> deliveries(
            Lane lane, PartitionAssignment assignment, List<ConsumerRecord<byte[], byte[]>> received) {
        List<Delivery<Received>> deliveries = new ArrayList<>(received.size());
        for (ConsumerRecord<byte[], byte[]> record : received) {
            deliveries.add(delivery(lane, assignment.partition(), record));
        }
        return new PartitionDeliveries<>(assignment, deliveries, consumer.position(lane.topicPartition()));
    }

    private Delivery<Received> delivery(Lane lane, EventPartition partition, ConsumerRecord<byte[], byte[]> record) {
        int attempt = lane.attempt(record.offset());
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

    private void settle(ProcessingResult<Received> result, long startNanos) {
        if (log.isDebugEnabled()) {
            log.debug(
                    "The consumer {} handled {} events and passed over {} duplicates in {} ms",
                    settings.name(),
                    result.handled(),
                    result.duplicates(),
                    TimeUnit.NANOSECONDS.toMillis(settings.nanos().getAsLong() - startNanos));
        }
        settlement.settle(result);
    }

    // ---- stopping

    private boolean isStopping() {
        return stopRequested.getCount() == 0;
    }

    private void awaitStop(Duration delay) {
        try {
            boolean stopping = stopRequested.await(delay.toNanos(), TimeUnit.NANOSECONDS);
            log.debug("Waited for {} or the stop: {}", delay, stopping);
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    /** Makes the loop end after the transaction in hand; callable from any thread. */
    void requestStop() {
        stopRequested.countDown();
        gate.close();
    }

    boolean awaitDrained(Duration timeout) throws InterruptedException {
        return drained.await(timeout.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Lets the consumer leave its group, and waits until it has. */
    boolean releaseAndAwaitClosed(Duration timeout) throws InterruptedException {
        closePatience = timeout;
        released.countDown();
        return closed.await(timeout.toNanos(), TimeUnit.NANOSECONDS);
    }

    Set<TopicPartition> inHand() {
        return inHand;
    }

    @Nullable
    Throwable failure() {
        return failure.get();
    }

    boolean isClosed() {
        return closed.getCount() == 0;
    }

    private void close() {
        try {
            if (isStopping()) {
                released.await();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        try {
            closeConsumer();
        } catch (KafkaException e) {
            log.info("The consumer {} could not leave its group in order; the group will notice", settings.name(), e);
        } finally {
            topicIds.close();
            closed.countDown();
        }
    }

    /** The replacement is not in every client we support. */
    @SuppressWarnings("deprecation")
    private void closeConsumer() {
        consumer.close(closePatience);
    }
}
