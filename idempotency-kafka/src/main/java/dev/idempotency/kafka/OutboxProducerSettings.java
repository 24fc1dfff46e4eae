package dev.idempotency.kafka;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** The producer's settings on which the outbox's guarantees rest, and defaults for the others. */
final class OutboxProducerSettings {
    private OutboxProducerSettings() {}

    /** Completes settings for a producer without transactions. */
    static Map<String, Object> outsideTransactions(Map<String, ?> given) {
        if (given.containsKey(ProducerConfig.TRANSACTIONAL_ID_CONFIG)) {
            throw new IllegalArgumentException("transactional.id is set, but this publisher sends outside transactions:"
                    + " remove it, or use KafkaTransactionalOutboxPublisher");
        }
        return complete(given);
    }

    /** Completes settings for the producers of ranges, each with a transactional id of its own. */
    static Map<String, Object> insideTransactions(Map<String, ?> given) {
        if (given.containsKey(ProducerConfig.TRANSACTIONAL_ID_CONFIG)) {
            throw new IllegalArgumentException(
                    "transactional.id is set, but the publisher makes one of the outbox's name for each range: remove it");
        }
        Map<String, Object> settings = new HashMap<>(given);
        settings.putIfAbsent(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 8_000);
        settings.putIfAbsent(ProducerConfig.MAX_BLOCK_MS_CONFIG, 2_000L);
        // What has gathered during a transaction is the next: there is nothing to linger for.
        settings.putIfAbsent(ProducerConfig.LINGER_MS_CONFIG, 0);
        return complete(settings);
    }

    private static Map<String, Object> complete(Map<String, ?> given) {
        Map<String, Object> settings = new HashMap<>(given);
        refuseOther(settings, ProducerConfig.ACKS_CONFIG, "all", "-1");
        refuseOther(settings, ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true");
        settings.putIfAbsent(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 15_000);
        settings.putIfAbsent(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, 5_000);
        settings.putIfAbsent(ProducerConfig.MAX_BLOCK_MS_CONFIG, 3_000L);
        settings.putIfAbsent(ProducerConfig.LINGER_MS_CONFIG, 5);
        settings.putIfAbsent(ProducerConfig.BATCH_SIZE_CONFIG, 131_072);
        settings.putIfAbsent(ProducerConfig.BUFFER_MEMORY_CONFIG, 67_108_864L);
        // With more, a broker that has not heard of the producer yet takes the second batch after it has refused the
        // first.
        settings.putIfAbsent(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 1);
        return Map.copyOf(settings);
    }

    static ProducerConfig parse(Map<String, Object> settings) {
        Map<String, Object> complete = new HashMap<>(settings);
        complete.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
        complete.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
        try {
            return new ProducerConfig(complete);
        } catch (ConfigException e) {
            throw new IllegalArgumentException("Kafka refuses the producer's settings: " + e.getMessage(), e);
        }
    }

    private static void refuseOther(Map<String, Object> settings, String name, String... accepted) {
        Object given = settings.putIfAbsent(name, accepted[0]);
        if (given != null && Arrays.stream(accepted).noneMatch(given.toString()::equalsIgnoreCase)) {
            throw new IllegalArgumentException(name + " is " + given + ", but the outbox's guarantees rest on "
                    + accepted[0] + ": remove the setting");
        }
    }
}
