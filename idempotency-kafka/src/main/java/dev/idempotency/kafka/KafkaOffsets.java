package dev.idempotency.kafka;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Commits offsets to Kafka after the database, never backwards: for lag, for other tools, and for going back to a plain
 * consumer.
 */
final class KafkaOffsets {
    private static final Logger log = LoggerFactory.getLogger(KafkaOffsets.class);

    /** How long a synchronous commit may take: it is a convenience, the database has the offsets too. */
    static final Duration PATIENCE = Duration.ofSeconds(5);

    private final String name;
    private final Consumer<byte[], byte[]> consumer;
    private final Lanes lanes;

    KafkaOffsets(String name, Consumer<byte[], byte[]> consumer, Lanes lanes) {
        this.name = name;
        this.consumer = consumer;
        this.lanes = lanes;
    }

    private static Map<TopicPartition, OffsetAndMetadata> commitable(Collection<Lane> some) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (Lane lane : some) {
            if (lane.isAheadOfCommit()) {
                offsets.put(lane.topicPartition(), lane.committable());
            }
        }
        return offsets;
    }

    void commitAsync() {
        Map<TopicPartition, OffsetAndMetadata> offsets = commitable(lanes.all());
        if (offsets.isEmpty()) {
            return;
        }
        consumer.commitAsync(offsets, (committed, e) -> {
            if (e == null) {
                noteCommitted(committed);
            } else {
                log.debug("The consumer {} could not commit offsets to Kafka; a later commit will", name, e);
            }
        });
    }

    /**
     * Says in Kafka that this offset is ours from now on, before anything is processed from it.
     *
     * @throws KafkaException if it could not be committed
     */
    void claim(Lane lane, OffsetAndMetadata offset) {
        Map<TopicPartition, OffsetAndMetadata> offsets = Map.of(lane.topicPartition(), offset);
        consumer.commitSync(offsets, PATIENCE);
        noteCommitted(offsets);
    }

    /** What Kafka has for these partitions; without an entry for those of which it has nothing. */
    Map<TopicPartition, OffsetAndMetadata> find(Collection<Lane> some) {
        Map<TopicPartition, OffsetAndMetadata> found =
                new HashMap<>(consumer.committed(Lanes.partitions(some), PATIENCE));
        found.values().removeIf(Objects::isNull);
        return found;
    }

    void commitSync(Collection<Lane> some) {
        Map<TopicPartition, OffsetAndMetadata> offsets = commitable(some);
        if (offsets.isEmpty()) {
            return;
        }
        try {
            consumer.commitSync(offsets, PATIENCE);
            noteCommitted(offsets);
        } catch (InterruptException e) {
            throw e;
        } catch (WakeupException e) {
            log.debug("The consumer {} was woken up in a commit", name, e);
        } catch (KafkaException e) {
            log.info(
                    "The consumer {} could not commit offsets to Kafka before giving partitions up; what is delivered"
                            + " again will be recognised",
                    name,
                    e);
        }
    }

    private void noteCommitted(Map<TopicPartition, OffsetAndMetadata> offsets) {
        offsets.forEach((topicPartition, offset) -> {
            Lane lane = lanes.find(topicPartition);
            if (lane != null) {
                lane.committed(offset.offset());
            }
        });
    }
}
