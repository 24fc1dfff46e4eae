package dev.idempotency.kafka;

import dev.idempotency.EventId;
import dev.idempotency.IdempotencyException;
import dev.idempotency.event.Delivery;
import dev.idempotency.event.EventProcessor;
import dev.idempotency.event.PartitionDeliveries;
import dev.idempotency.event.ProcessingFailure;
import dev.idempotency.event.ProcessingResult;
import dev.idempotency.spi.EventHeader;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.ParkedEvent;
import dev.idempotency.spi.PartitionAssignment;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread of one {@link IdempotentConsumer}: polls, has the records processed, commits offsets to Kafka after the
 * database, and closes the consumer. All work happens between two polls, so nothing is in hand during a rebalance.
 */
final class ConsumerLoop implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(ConsumerLoop.class);

    /** How long one poll may take where nothing else is due; a stop ends it at once. */
    private static final Duration LONGEST_POLL = Duration.ofSeconds(1);

    /** How long the poll may take that tells whether a fenced partition is still ours. */
    private static final Duration LEARNING_POLL = Duration.ofMillis(100);

    /** How long a synchronous commit of offsets may take: they are a convenience, the database has them too. */
    private static final Duration COMMIT_PATIENCE = Duration.ofSeconds(5);

    private static final Comparator<TopicPartition> IN_ORDER =
            Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition);

    private final Settings settings;
    private final EventProcessor<Received> processor;
    private final Consumer<byte[], byte[]> consumer;
    private final TopicIds topicIds;
    private final WakeupGate gate;
    private final Map<TopicPartition, Lane> lanes = new HashMap<>();

    private final CountDownLatch stopRequested = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);
    private final CountDownLatch drained = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    private volatile Set<TopicPartition> inHand = Set.of();
    private volatile Duration closePatience = COMMIT_PATIENCE;
    private long polls;
    private int troubles;

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
    }

    @Override
    public void run() {
        try {
            consumer.subscribe(settings.topics(), new Rebalance());
            while (!isStopping()) {
                cycle();
            }
            commitSync(lanes.values());
        } catch (InterruptException e) {
            log.info("The thread of the consumer {} was interrupted and stops", settings.name());
        } catch (RuntimeException | Error e) {
            failure.set(e);
            released.countDown();
            log.error("The consumer {} has failed and stops; no record was skipped", settings.name(), e);
        } finally {
            drained.countDown();
            close();
        }
    }

    private void cycle() {
        try {
            takeOverWhatIsDue();
            resumeWhatIsDue();
            ConsumerRecords<byte[], byte[]> records = gate.poll(pollTimeout());
            polls++;
            if (!records.isEmpty() && !isStopping()) {
                process(records);
            }
        } catch (InterruptException | FencedInstanceIdException e) {
            throw e;
        } catch (KafkaException e) {
            // Authorization, authentication, a broken record batch: an operator can cure it while we wait.
            log.warn("The consumer {} could not poll and tries again", settings.name(), e);
            awaitStop(troubleDelay());
        }
    }

    // ---- records

    private void process(ConsumerRecords<byte[], byte[]> records) {
        long startNanos = settings.nanos().getAsLong();
        List<Lane> touched = new ArrayList<>();
        List<PartitionDeliveries<Received>> deliveries = new ArrayList<>();
        records.partitions().stream().sorted(IN_ORDER).forEach(topicPartition -> {
            List<ConsumerRecord<byte[], byte[]>> received = records.records(topicPartition);
            Lane lane = lanes.get(topicPartition);
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
        inHand = partitions(touched);
        try {
            settle(processor.process(deliveries, () -> mayProceed(startNanos)), startNanos);
        } finally {
            rewind(touched);
            inHand = Set.of();
        }
        commitAsync();
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
        pause(lane, settings.retry().maxDelay());
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
        result.progress().forEach((partition, next) -> {
            Lane lane = lane(partition);
            if (lane != null) {
                lane.advance(next);
            }
        });
        if (!result.progress().isEmpty()) {
            troubles = 0;
        }
        if (log.isDebugEnabled()) {
            log.debug(
                    "The consumer {} handled {} events and passed over {} duplicates in {} ms",
                    settings.name(),
                    result.handled(),
                    result.duplicates(),
                    TimeUnit.NANOSECONDS.toMillis(settings.nanos().getAsLong() - startNanos));
        }
        result.failures().forEach(this::settle);
    }

    private void settle(ProcessingFailure<Received> failed) {
        if (failed instanceof ProcessingFailure.HandlerFailed<Received> handler) {
            handlerFailed(handler);
        } else if (failed instanceof ProcessingFailure.Fenced<Received> fenced) {
            log.info(
                    "The consumer {} is no longer sure of {}: somebody else has taken or advanced them; asks again",
                    settings.name(),
                    fenced.partitions());
            unassign(fenced.partitions());
        } else if (failed instanceof ProcessingFailure.CommitUnknown<Received> unknown) {
            log.warn(
                    "The consumer {} got no answer to a commit for {}; it looks up what became of it",
                    settings.name(),
                    unknown.partitions(),
                    unknown.cause());
            unassign(unknown.partitions());
        } else if (failed instanceof ProcessingFailure.Unavailable<Received> unavailable) {
            waitForBetterTimes("cannot use its database or what its handler needs", unavailable.cause());
        } else if (failed instanceof ProcessingFailure.Contended<Received> contended) {
            waitForBetterTimes("lost against concurrent transactions again and again", contended.cause());
        }
    }

    private void waitForBetterTimes(String what, Exception cause) {
        Duration delay = troubleDelay();
        log.warn("The consumer {} {}; no event is to blame, tries again in {}", settings.name(), what, delay, cause);
        lanes.values().forEach(lane -> pause(lane, delay));
    }

    private Duration troubleDelay() {
        troubles++;
        return settings.retry().delayAfter(troubles);
    }

    private void handlerFailed(ProcessingFailure.HandlerFailed<Received> failed) {
        Lane lane = lane(failed.partition());
        if (lane == null) {
            return;
        }
        Delivery<Received> delivery = failed.delivery();
        int failures = lane.failed(delivery.offset());
        boolean rejected = delivery.event().rejection() != null;
        boolean exhausted = failures >= settings.retry().maxAttempts();
        boolean park = rejected
                ? settings.missingEventId() == MissingEventId.PARK
                : exhausted && settings.givingUp() == GivingUp.PARK;
        if (park) {
            park(lane, failed, failures);
            return;
        }
        Duration delay = rejected || exhausted
                ? settings.retry().maxDelay()
                : settings.retry().delayAfter(failures);
        log.warn(
                "The consumer {} could not handle the record at {}@{} (failure {}); its partition waits {}",
                settings.name(),
                lane.topicPartition(),
                delivery.offset(),
                failures,
                delay,
                failed.cause());
        pause(lane, delay);
    }

    private void park(Lane lane, ProcessingFailure.HandlerFailed<Received> failed, int attempts) {
        PartitionAssignment assignment = lane.assignment();
        if (assignment == null) {
            return;
        }
        Delivery<Received> delivery = failed.delivery();
        ProcessingResult<Received> result = processor.park(
                assignment, parkedEvent(failed.partition(), delivery, attempts, failed.cause()), failed.next());
        if (result.failures().isEmpty()) {
            lane.advance(failed.next());
            log.warn(
                    "The consumer {} parked the record at {}@{} after {} failures",
                    settings.name(),
                    lane.topicPartition(),
                    delivery.offset(),
                    attempts,
                    failed.cause());
        } else {
            result.failures().forEach(this::settle);
        }
    }

    private static ParkedEvent parkedEvent(
            EventPartition partition, Delivery<Received> delivery, int attempts, Exception cause) {
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
                cause.toString());
    }

    /** What was polled and not processed is polled again. */
    private void rewind(List<Lane> touched) {
        for (Lane lane : touched) {
            if (lanes.get(lane.topicPartition()) == lane
                    && consumer.position(lane.topicPartition()) != lane.position()) {
                consumer.seek(lane.topicPartition(), lane.position());
            }
        }
    }

    // ---- waiting

    private void pause(Lane lane, Duration delay) {
        lane.waitUntil(settings.nanos().getAsLong() + delay.toNanos());
        consumer.pause(List.of(lane.topicPartition()));
    }

    private void resumeWhatIsDue() {
        long now = settings.nanos().getAsLong();
        for (Lane lane : lanes.values()) {
            if (lane.resumes(now)) {
                consumer.resume(List.of(lane.topicPartition()));
            }
        }
    }

    private Duration pollTimeout() {
        long now = settings.nanos().getAsLong();
        long nanos = LONGEST_POLL.toNanos();
        for (Lane lane : lanes.values()) {
            boolean asksAgain = lane.assignment() == null && !lane.isWaiting(now);
            nanos = Math.min(nanos, asksAgain ? LEARNING_POLL.toNanos() : lane.nanosToWait(now));
        }
        return Duration.ofNanos(nanos);
    }

    // ---- assignments

    private void takeOverWhatIsDue() {
        long now = settings.nanos().getAsLong();
        List<Lane> due = lanes.values().stream()
                .filter(lane -> lane.needsAssignment(polls, now))
                .toList();
        if (!due.isEmpty()) {
            takeOver(due);
        }
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
            for (PartitionAssignment assignment : processor.assign(byPartition.keySet(), settings.owner())) {
                Lane lane = byPartition.get(assignment.partition());
                if (lane != null) {
                    begin(lane, assignment);
                }
            }
        } catch (InterruptException e) {
            throw e;
        } catch (IdempotencyException | KafkaException e) {
            Duration delay = troubleDelay();
            log.warn(
                    "The consumer {} could not take over {} yet; tries again in {}",
                    settings.name(),
                    partitions(taken),
                    delay,
                    e);
            taken.forEach(lane -> pause(lane, delay));
        }
    }

    private void begin(Lane lane, PartitionAssignment assignment) {
        lane.assigned(assignment);
        if (lane.position() >= 0) {
            consumer.seek(lane.topicPartition(), lane.position());
        }
        consumer.resume(List.of(lane.topicPartition()));
    }

    private void unassign(Collection<EventPartition> partitions) {
        for (EventPartition partition : partitions) {
            Lane lane = lane(partition);
            if (lane != null) {
                int times = lane.unassigned(polls);
                // The first time at once; if two consumers keep fencing each other, one of them will be told by Kafka.
                pause(lane, times == 1 ? Duration.ZERO : settings.retry().delayAfter(times - 1));
            }
        }
    }

    private @Nullable Lane lane(EventPartition partition) {
        return lanes.get(new TopicPartition(partition.topic(), partition.number()));
    }

    private static Set<TopicPartition> partitions(Collection<Lane> some) {
        Set<TopicPartition> partitions = new HashSet<>();
        some.forEach(lane -> partitions.add(lane.topicPartition()));
        return partitions;
    }

    /** What Kafka says about partitions; called inside poll and close, on the polling thread. */
    private final class Rebalance implements ConsumerRebalanceListener {
        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            List<Lane> taken = new ArrayList<>();
            for (TopicPartition partition : partitions) {
                Lane lane = new Lane(partition);
                lanes.put(partition, lane);
                consumer.pause(List.of(partition));
                taken.add(lane);
            }
            if (!taken.isEmpty()) {
                takeOver(taken);
            }
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            List<Lane> given =
                    partitions.stream().map(lanes::get).filter(Objects::nonNull).toList();
            commitSync(given);
            partitions.forEach(lanes::remove);
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            partitions.forEach(lanes::remove);
        }
    }

    // ---- offsets in Kafka: for lag, for other tools, for going back to a plain consumer

    private Map<TopicPartition, OffsetAndMetadata> commitable(Collection<Lane> some) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (Lane lane : some) {
            if (lane.isAheadOfCommit()) {
                offsets.put(lane.topicPartition(), new OffsetAndMetadata(lane.position()));
            }
        }
        return offsets;
    }

    private void commitAsync() {
        Map<TopicPartition, OffsetAndMetadata> offsets = commitable(lanes.values());
        if (offsets.isEmpty()) {
            return;
        }
        consumer.commitAsync(offsets, (committed, e) -> {
            if (e == null) {
                noteCommitted(committed);
            } else {
                log.debug("The consumer {} could not commit offsets to Kafka; a later commit will", settings.name(), e);
            }
        });
    }

    private void commitSync(Collection<Lane> some) {
        Map<TopicPartition, OffsetAndMetadata> offsets = commitable(some);
        if (offsets.isEmpty()) {
            return;
        }
        try {
            consumer.commitSync(offsets, COMMIT_PATIENCE);
            noteCommitted(offsets);
        } catch (InterruptException e) {
            throw e;
        } catch (WakeupException e) {
            log.debug("The consumer {} was woken up in a commit", settings.name(), e);
        } catch (KafkaException e) {
            log.info(
                    "The consumer {} could not commit offsets to Kafka before giving partitions up; what is delivered"
                            + " again will be recognised",
                    settings.name(),
                    e);
        }
    }

    private void noteCommitted(Map<TopicPartition, OffsetAndMetadata> offsets) {
        offsets.forEach((topicPartition, offset) -> {
            Lane lane = lanes.get(topicPartition);
            if (lane != null) {
                lane.committed(offset.offset());
            }
        });
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
