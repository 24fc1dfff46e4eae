package dev.idempotency.kafka;

import dev.idempotency.event.EventProcessor;
import dev.idempotency.event.PartitionDeliveries;
import dev.idempotency.event.ProcessingResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.Consumer;
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

    private static final long UNKNOWN = -1;

    private final Settings settings;
    private final EventProcessor<Received> processor;
    private final Consumer<byte[], byte[]> consumer;
    private final TopicIds topicIds;
    private final WakeupGate gate;
    private final Lanes lanes;
    private final KafkaOffsets offsets;
    private final Assignments assignments;
    private final Settlement settlement;
    private final Intake intake;

    private final CountDownLatch stopRequested = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);
    private final CountDownLatch drained = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    private volatile Set<TopicPartition> inHand = Set.of();
    private volatile Set<TopicPartition> waiting = Set.of();
    private volatile long lag = UNKNOWN;
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
        this.intake = new Intake(settings, consumer, lanes, assignments, settlement);
    }

    @Override
    public void run() {
        try {
            compareRetention();
            settings.subscription().subscribe(consumer, assignments);
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
            StartupChecks.retentionWarning(
                            marks, topicIds.retention(settings.subscription().among(topicIds.names())))
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
            assignments.lookForReplacedTopics();
            assignments.takeOverWhatIsDue();
            lanes.resumeWhatIsDue();
            ConsumerRecords<byte[], byte[]> records = gate.poll(lanes.pollTimeout());
            assignments.polled();
            note();
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
        try {
            List<PartitionDeliveries<Received>> deliveries =
                    intake.take(records, touched, () -> mayProceed(startNanos), lanesInHand -> inHand = lanesInHand);
            if (!deliveries.isEmpty()) {
                settle(processor.process(deliveries, () -> mayProceed(startNanos)), startNanos);
            }
        } finally {
            lanes.rewind(touched);
            inHand = Set.of();
        }
        offsets.commitAsync();
    }

    private boolean mayProceed(long startNanos) {
        return !isStopping()
                && settings.nanos().getAsLong() - startNanos
                        < settings.processingBudget().toNanos();
    }

    /** For those who look from outside, on other threads. */
    private void note() {
        waiting = lanes.waiting();
        long sum = 0;
        boolean known = false;
        for (Lane lane : lanes.all()) {
            OptionalLong records = consumer.currentLag(lane.topicPartition());
            if (records.isPresent()) {
                sum += records.getAsLong();
                known = true;
            }
        }
        lag = known ? sum : UNKNOWN;
    }

    OptionalLong lag() {
        long last = lag;
        return last < 0 || isClosed() ? OptionalLong.empty() : OptionalLong.of(last);
    }

    Set<TopicPartition> waiting() {
        return isClosed() ? Set.of() : waiting;
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
