package dev.idempotency.kafka;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.Deserializer;

/** Decodes records where the processor can see it fail: inside the handler's own try. */
record Decoder<K, V>(Deserializer<? extends K> keys, Deserializer<? extends V> values) {
    @SuppressWarnings("NullAway") // a key or a value may be null, which Kafka's types do not say
    ConsumerRecord<K, V> decode(ConsumerRecord<byte[], byte[]> raw) {
        // As Kafka itself does it: deserializers are not asked about null.
        K key = raw.key() == null ? null : keys.deserialize(raw.topic(), raw.headers(), raw.key());
        V value = raw.value() == null ? null : values.deserialize(raw.topic(), raw.headers(), raw.value());
        return new ConsumerRecord<>(
                raw.topic(),
                raw.partition(),
                raw.offset(),
                raw.timestamp(),
                raw.timestampType(),
                raw.serializedKeySize(),
                raw.serializedValueSize(),
                key,
                value,
                raw.headers(),
                raw.leaderEpoch());
    }
}
