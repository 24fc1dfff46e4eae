package dev.idempotency.kafka;

import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.FencedOutboxPublisher;
import dev.idempotency.spi.LeasedOutboxStore;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.PublishCallback;
import dev.idempotency.spi.PublishOutcome;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;

/**
 * Publishes outbox events to Kafka in transactions, one transactional id per range of buckets, so that Kafka itself refuses
 * what a relay still sends that has lost its lease; applications make one per relay that leases.
 *
 * <p>Beyond what {@link KafkaOutboxPublisher} does: a relay that wakes up after its lease has ended can add nothing to a
 * topic any more, and a batch that fails leaves nothing behind. Consumers see this only with {@code
 * isolation.level=read_committed}. A relay that was killed after its commit and before its mark still has its events sent
 * again: deduplication by the event id stays necessary. The price is a commit per batch and range, and up to {@value
 * LeasedOutboxStore#SLOTS} producers.
 *
 * <p>Headers are those of {@link KafkaOutboxPublisher}. Safe for use by many threads.
 */
public final class KafkaTransactionalOutboxPublisher implements FencedOutboxPublisher {
    private static final int BUCKETS_PER_SLOT = OutboxEvent.BUCKETS / LeasedOutboxStore.SLOTS;

    /** How long an event may wait for the transactions before its own. */
    private static final Duration LONGEST_QUEUED = Duration.ofSeconds(3);

    private final Map<String, Object> settings;
    private final String outbox;
    private final OutboxRecords records;
    private final Duration deliveryTimeout;
    private final Map<Integer, SlotTransactions> slots = new ConcurrentHashMap<>();
    private boolean closed;

    private KafkaTransactionalOutboxPublisher(Map<String, Object> settings, String outbox) {
        this.settings = settings;
        this.outbox = outbox;
        ProducerConfig parsed = OutboxProducerSettings.parse(settings);
        // Before the transaction the look-up of a partition and of the topic's limit may block, then the send, then the
        // commit, and after a failure the abort and the same once more alone.
        Duration transaction = Duration.ofMillis(parsed.getInt(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG)
                + 3 * parsed.getLong(ProducerConfig.MAX_BLOCK_MS_CONFIG));
        this.deliveryTimeout = LONGEST_QUEUED.plus(transaction.multipliedBy(2)).plus(TopicLimits.LONGEST_WAIT);
        this.records = new OutboxRecords(settings, outbox);
    }

    /**
     * Returns a publisher.
     *
     * <p>Defaults where the settings say nothing are those of {@link KafkaOutboxPublisher#of(Map, String)}, but {@code
     * delivery.timeout.ms=8000}, {@code max.block.ms=2000} and {@code linger.ms=0}. The relay's lease must be longer than
     * {@link #deliveryTimeout()}, with the defaults 32 s.
     *
     * @param producerSettings settings of Kafka's producer, {@code bootstrap.servers} at least; not the serializers, not
     *     {@code transactional.id}
     * @param outbox the outbox's name: relays of one outbox share it, others must not; it begins the transactional ids, and is
     *     sent as the header {@value OutboxEvent#SOURCE_HEADER}
     * @return the publisher
     * @throws IllegalArgumentException if a setting breaks a guarantee, or Kafka refuses one, or the name is blank
     */
    public static KafkaTransactionalOutboxPublisher of(Map<String, ?> producerSettings, String outbox) {
        if (outbox.isBlank()) {
            throw new IllegalArgumentException("The outbox's name must not be blank: it begins the transactional ids");
        }
        return new KafkaTransactionalOutboxPublisher(
                OutboxProducerSettings.insideTransactions(producerSettings), outbox);
    }

    @Override
    public Duration deliveryTimeout() {
        return deliveryTimeout;
    }

    @Override
    public void takeOver(int slot) {
        synchronized (slots) {
            if (closed) {
                throw new IllegalStateException("The publisher is closed");
            }
            SlotTransactions present = slots.get(slot);
            if (present != null && !present.hasEnded()) {
                return;
            }
            leave(slot);
            slots.put(slot, new SlotTransactions(settings, outbox + "-" + slot, records, LONGEST_QUEUED));
        }
    }

    @Override
    public void leave(int slot) {
        synchronized (slots) {
            SlotTransactions present = slots.remove(slot);
            if (present != null) {
                // Whoever waits here renews leases: nothing that is under way is worth a lease.
                present.close(Duration.ZERO);
            }
        }
    }

    @Override
    public void publish(OutboxRow row, PublishCallback callback) {
        SlotTransactions slot = slots.get(row.bucket() / BUCKETS_PER_SLOT);
        if (slot == null) {
            callback.completed(
                    row,
                    new PublishOutcome.Failed(
                            PublishOutcome.Kind.FATAL,
                            new KafkaException("The range of bucket " + row.bucket() + " was not taken over")));
        } else {
            slot.publish(row, callback);
        }
    }

    /** Ranges are taken over one by one, by who holds their leases; until then their events are answered FATAL. */
    @Override
    public void recover() {}

    @Override
    public void close() {
        synchronized (slots) {
            closed = true;
            slots.values().forEach(slot -> slot.close(deliveryTimeout));
            slots.clear();
        }
        records.close();
    }
}
