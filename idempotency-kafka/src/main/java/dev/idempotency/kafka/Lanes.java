package dev.idempotency.kafka;

import dev.idempotency.spi.EventPartition;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** The partitions that Kafka has assigned, and which of them wait; for the polling thread alone. */
final class Lanes {
    /** How long one poll may take where nothing else is due; a stop ends it at once. */
    private static final Duration LONGEST_POLL = Duration.ofSeconds(1);

    /** How long the poll may take that tells whether a fenced partition is still ours. */
    private static final Duration LEARNING_POLL = Duration.ofMillis(100);

    private final Settings settings;
    private final Consumer<byte[], byte[]> consumer;
    private final Map<TopicPartition, Lane> lanes = new HashMap<>();
    private int troubles;

    Lanes(Settings settings, Consumer<byte[], byte[]> consumer) {
        this.settings = settings;
        this.consumer = consumer;
    }

    Collection<Lane> all() {
        return lanes.values();
    }

    Set<String> topics() {
        return lanes.keySet().stream().map(TopicPartition::topic).collect(Collectors.toSet());
    }

    /** The partitions that wait now, whatever for. */
    Set<TopicPartition> waiting() {
        long now = settings.nanos().getAsLong();
        return partitions(
                lanes.values().stream().filter(lane -> lane.isWaiting(now)).toList());
    }

    @Nullable
    Lane find(TopicPartition topicPartition) {
        return lanes.get(topicPartition);
    }

    @Nullable
    Lane find(EventPartition partition) {
        return lanes.get(new TopicPartition(partition.topic(), partition.number()));
    }

    List<Lane> find(Collection<TopicPartition> partitions) {
        return partitions.stream().map(lanes::get).filter(Objects::nonNull).toList();
    }

    /** Adds a lane, which waits until it is resumed. */
    Lane add(TopicPartition topicPartition) {
        Lane lane = new Lane(topicPartition, settings.maxPollRecords());
        lanes.put(topicPartition, lane);
        consumer.pause(List.of(topicPartition));
        return lane;
    }

    void remove(Collection<TopicPartition> partitions) {
        partitions.forEach(lanes::remove);
    }

    void pause(Lane lane, Duration delay) {
        lane.waitUntil(settings.nanos().getAsLong() + delay.toNanos());
        consumer.pause(List.of(lane.topicPartition()));
    }

    void pauseAll(Duration delay) {
        lanes.values().forEach(lane -> pause(lane, delay));
    }

    void resumeWhatIsDue() {
        long now = settings.nanos().getAsLong();
        for (Lane lane : lanes.values()) {
            if (lane.resumes(now)) {
                consumer.resume(List.of(lane.topicPartition()));
            }
        }
    }

    Duration pollTimeout() {
        long now = settings.nanos().getAsLong();
        long nanos = LONGEST_POLL.toNanos();
        for (Lane lane : lanes.values()) {
            boolean asksAgain = lane.assignment() == null && !lane.isWaiting(now);
            nanos = Math.min(nanos, asksAgain ? LEARNING_POLL.toNanos() : lane.nanosToWait(now));
        }
        return Duration.ofNanos(nanos);
    }

    /** What was polled and not processed is polled again. */
    void rewind(List<Lane> touched) {
        for (Lane lane : touched) {
            if (lanes.get(lane.topicPartition()) == lane
                    && consumer.position(lane.topicPartition()) != lane.position()) {
                consumer.seek(lane.topicPartition(), lane.position());
            }
        }
    }

    /** One more time that nothing could be done, and how long to wait now. */
    Duration troubleDelay() {
        troubles++;
        return settings.retry().delayAfter(troubles);
    }

    void troubleOver() {
        troubles = 0;
    }

    static Set<TopicPartition> partitions(Collection<Lane> some) {
        Set<TopicPartition> partitions = new HashSet<>();
        some.forEach(lane -> partitions.add(lane.topicPartition()));
        return partitions;
    }
}
