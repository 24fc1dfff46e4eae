package dev.idempotency.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** The producer of a publisher, and a second one without batches that is made when it is needed first. */
final class Producers {
    private final Map<String, Object> settings;
    private final Producer<byte[], byte[]> together;
    private final AtomicBoolean retired = new AtomicBoolean();
    private @Nullable Producer<byte[], byte[]> alone;
    private boolean closed;

    /**
     * Connects.
     *
     * @throws IllegalArgumentException if Kafka refuses the settings
     */
    Producers(Map<String, Object> settings) {
        this.settings = settings;
        this.together = connect(settings);
    }

    Producer<byte[], byte[]> of(Suspects.Route route) {
        return route == Suspects.Route.ALONE ? alone() : together;
    }

    private synchronized Producer<byte[], byte[]> alone() {
        if (closed) {
            throw new IllegalStateException("The publisher's producers are closed");
        }
        Producer<byte[], byte[]> present = alone;
        if (present == null) {
            Map<String, Object> single = new HashMap<>(settings);
            single.put(ProducerConfig.BATCH_SIZE_CONFIG, 0);
            single.put(ProducerConfig.LINGER_MS_CONFIG, 0);
            // Two clients of one name would fight for one place among the JVM's metrics.
            single.computeIfPresent(ProducerConfig.CLIENT_ID_CONFIG, (option, name) -> name + "-alone");
            present = connect(single);
            alone = present;
        }
        return present;
    }

    boolean areRetired() {
        return retired.get();
    }

    /**
     * Lets nothing more go out, from within the answer to what failed: a producer would send on what stands behind it, and a
     * later event would overtake an earlier one of its key. What is under way is answered as aborted.
     *
     * @return true if they were not retired before
     */
    boolean retire() {
        boolean first = retired.compareAndSet(false, true);
        if (first) {
            close(Duration.ZERO);
        }
        return first;
    }

    synchronized void close(Duration longest) {
        closed = true;
        long end = System.nanoTime() + longest.toNanos();
        together.close(longest);
        if (alone != null) {
            alone.close(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
        }
    }

    private static Producer<byte[], byte[]> connect(Map<String, Object> settings) {
        try {
            return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
        } catch (KafkaException e) {
            throw new IllegalArgumentException("Kafka refuses the producer's settings: " + e.getMessage(), e);
        }
    }
}
