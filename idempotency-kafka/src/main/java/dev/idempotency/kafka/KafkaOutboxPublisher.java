package dev.idempotency.kafka;

import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.OutboxPublisher;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.PublishCallback;
import dev.idempotency.spi.PublishOutcome;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes outbox events to Kafka with a producer of its own; applications make one and give it to their relays.
 *
 * <p>The producer waits for all in-sync replicas and is idempotent; settings that would break order or acknowledgment are
 * refused. Each record carries the headers {@value OutboxEvent#EVENT_ID_HEADER}, {@value
 * OutboxEvent#SEQUENCE_HEADER} and, where they are set, {@value OutboxEvent#SOURCE_HEADER}, {@value
 * OutboxEvent#EVENT_TYPE_HEADER}, {@value OutboxEvent#TENANT_HEADER}, beside the event's own, all as UTF-8. Its
 * timestamp is that of the send: an event that waited out a long outage must not arrive past the topic's retention.
 *
 * <p>When an event fails after it was sent, everything behind it is aborted and answered {@link
 * PublishOutcome.Kind#FATAL}: the producer would send it, and a later event of a key would come before an earlier one.
 * {@link #recover()} makes a new producer.
 *
 * <p>Safe for use by many threads.
 */
public final class KafkaOutboxPublisher implements OutboxPublisher {
    private static final Logger log = LoggerFactory.getLogger(KafkaOutboxPublisher.class);

    private static final Duration CLOSE_MARGIN = Duration.ofSeconds(1);

    private final Map<String, Object> settings;
    private final Duration deliveryTimeout;
    private final OutboxRecords records;
    private final Suspects suspects = new Suspects();
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile Producers producers;

    private KafkaOutboxPublisher(Map<String, Object> settings, @Nullable String source) {
        this.settings = settings;
        ProducerConfig parsed = OutboxProducerSettings.parse(settings);
        this.records = new OutboxRecords(settings, source);
        // Handing over may block for the partition's look-up, for the send itself, and for the topic's limit.
        this.deliveryTimeout = Duration.ofMillis(parsed.getInt(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG)
                        + 2 * parsed.getLong(ProducerConfig.MAX_BLOCK_MS_CONFIG))
                .plus(TopicLimits.LONGEST_WAIT);
        this.producers = new Producers(settings);
    }

    /**
     * Returns a publisher without a source header.
     *
     * @param producerSettings as in {@link #of(Map, String)}
     * @return the publisher
     */
    public static KafkaOutboxPublisher of(Map<String, ?> producerSettings) {
        return new KafkaOutboxPublisher(OutboxProducerSettings.outsideTransactions(producerSettings), null);
    }

    /**
     * Returns a publisher.
     *
     * <p>Defaults where the settings say nothing: {@code acks=all}, {@code enable.idempotence=true}, {@code
     * delivery.timeout.ms=15000}, {@code request.timeout.ms=5000}, {@code max.block.ms=3000}, {@code linger.ms=5},
     * {@code batch.size=131072}, {@code buffer.memory=67108864}, {@code max.in.flight.requests.per.connection=1}.
     *
     * @param producerSettings settings of Kafka's producer, {@code bootstrap.servers} at least; not the serializers
     * @param source the outbox's name, sent as the header {@value OutboxEvent#SOURCE_HEADER} with each event
     * @return the publisher
     * @throws IllegalArgumentException if a setting breaks a guarantee (acks, idempotence, transactions) or Kafka
     *     refuses one
     */
    public static KafkaOutboxPublisher of(Map<String, ?> producerSettings, String source) {
        if (source.isBlank()) {
            throw new IllegalArgumentException("The source must not be blank: it names the outbox in every event");
        }
        return new KafkaOutboxPublisher(OutboxProducerSettings.outsideTransactions(producerSettings), source);
    }

    @Override
    public Duration deliveryTimeout() {
        return deliveryTimeout;
    }

    @Override
    public void publish(OutboxRow row, PublishCallback callback) {
        Producers current = producers;
        String topic = row.event().topic();
        Suspects.Route route = suspects.begin(topic, row.eventId());
        Answer answer = new Answer(row, callback, () -> suspects.end(topic, route));
        try {
            if (route == Suspects.Route.LATER) {
                throw new KafkaException("The event waits until others of its topic are through, to be sent alone");
            }
            ProducerRecord<byte[], byte[]> sent = records.toRecord(row);
            RecordTooLargeException tooLarge = records.tooLarge(row, sent);
            if (tooLarge != null) {
                throw tooLarge;
            }
            Producer<byte[], byte[]> sender = current.of(route);
            OutboxRecords.checkPartition(sender, row.event());
            send(current, sender, sent, route, answer);
        } catch (RuntimeException e) {
            // The producer throws what it could not turn into a failed answer: nothing was sent, and no other event is
            // to
            // blame.
            answer.failed(kindOfUnsent(current, row, e), e);
        }
    }

    private PublishOutcome.Kind kindOfUnsent(Producers current, OutboxRow row, RuntimeException failure) {
        if (current.areRetired() || closed.get()) {
            return PublishOutcome.Kind.FATAL;
        }
        PublishOutcome.Kind kind = judge(Suspects.Route.ALONE, row, failure);
        if (kind == PublishOutcome.Kind.FATAL) {
            current.retire();
        }
        return kind;
    }

    /** The answer comes by the callback; the future says the same, but waiting for it has overflowed the stack before. */
    @SuppressWarnings("FutureReturnValueIgnored")
    private void send(
            Producers current,
            Producer<byte[], byte[]> sender,
            ProducerRecord<byte[], byte[]> sent,
            Suspects.Route route,
            Answer answer) {
        sender.send(sent, (metadata, failure) -> {
            if (failure == null) {
                suspects.clear(sent.topic(), answer.row.eventId());
                answer.published();
            } else {
                PublishOutcome.Kind kind = judge(route, answer.row, failure);
                answer.failed(current.retire() && !closed.get() ? kind : PublishOutcome.Kind.FATAL, failure);
            }
        });
    }

    /** What a broker says of an event counts only when the event was alone in its batch. */
    private PublishOutcome.Kind judge(Suspects.Route route, OutboxRow row, Exception failure) {
        PublishOutcome.Kind kind = PublishFailures.kindOf(failure);
        if (kind != PublishOutcome.Kind.RECORD) {
            return kind;
        }
        String topic = row.event().topic();
        if (route == Suspects.Route.TOGETHER && suspects.suspect(topic, row.eventId())) {
            log.debug(
                    "The broker refused a batch for {} in which was event {}; it is sent alone", topic, row.eventId());
            return PublishOutcome.Kind.TOPIC;
        }
        suspects.clear(topic, row.eventId());
        return kind;
    }

    /** Several relays may share this publisher, and lose the producer at the same moment; the first one replaces it. */
    @Override
    public void recover() {
        synchronized (closed) {
            if (!closed.get() && producers.areRetired()) {
                log.info("The outbox publisher replaces its producer, which was given up with the event that failed");
                producers = new Producers(settings);
            }
        }
    }

    @Override
    public void close() {
        synchronized (closed) {
            if (!closed.compareAndSet(false, true)) {
                return;
            }
        }
        producers.close(deliveryTimeout.plus(CLOSE_MARGIN));
        records.close();
    }

    /** Passes one outcome on and drops any further. */
    private static final class Answer {
        private final OutboxRow row;
        private final PublishCallback callback;
        private final Runnable ended;
        private final AtomicBoolean given = new AtomicBoolean();

        Answer(OutboxRow row, PublishCallback callback, Runnable ended) {
            this.row = row;
            this.ended = ended;
            this.callback = Objects.requireNonNull(callback, "callback");
        }

        void published() {
            give(new PublishOutcome.Published());
        }

        void failed(PublishOutcome.Kind kind, Exception cause) {
            give(new PublishOutcome.Failed(kind, cause));
        }

        private void give(PublishOutcome outcome) {
            if (given.compareAndSet(false, true)) {
                ended.run();
                callback.completed(row, outcome);
            }
        }
    }
}
