package dev.idempotency.kafka;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicCollection;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/** Asks the brokers for the identities of topics, which a topic that is deleted and created again does not keep. */
final class TopicIds implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /** So often it is looked whether a topic was deleted and created again. */
    static final Duration BETWEEN_LOOKS = Duration.ofSeconds(10);

    private final Admin admin;
    private final long nanosBetweenLooks;
    private @Nullable KafkaFuture<Map<String, TopicDescription>> look;
    private long lookedAtNanos;
    private boolean hasLooked;

    /** Makes a client with those of the consumer's settings that it knows. */
    TopicIds(Map<String, Object> consumerProperties) {
        this(consumerProperties, BETWEEN_LOOKS);
    }

    TopicIds(Map<String, Object> consumerProperties, Duration betweenLooks) {
        this.nanosBetweenLooks = betweenLooks.toNanos();
        Map<String, Object> properties = new HashMap<>(consumerProperties);
        properties.keySet().retainAll(AdminClientConfig.configNames());
        this.admin = Admin.create(properties);
    }

    /**
     * Returns the ids now.
     *
     * @throws KafkaException if the brokers did not tell
     */
    Map<String, UUID> resolve(Collection<String> topics) {
        return ids(answer(
                "The id of a topic",
                admin.describeTopics(TopicCollection.ofTopicNames(topics)).allTopicNames()));
    }

    /**
     * Looks from time to time, without waiting for the answer; for one thread.
     *
     * @param nowNanos the monotonic time
     * @param topics what to ask about, if it is time to ask
     * @return what an earlier question brought, told once; mostly empty
     */
    Map<String, UUID> look(long nowNanos, Supplier<Set<String>> topics) {
        KafkaFuture<Map<String, TopicDescription>> asked = look;
        if (asked != null && asked.isDone()) {
            look = null;
            return asked.isCompletedExceptionally() ? Map.of() : ids(answer("The id of a topic", asked));
        }
        if (asked == null && (!hasLooked || nowNanos - lookedAtNanos >= nanosBetweenLooks)) {
            lookedAtNanos = nowNanos;
            Set<String> now = hasLooked ? topics.get() : Set.of();
            hasLooked = true;
            if (!now.isEmpty()) {
                look = admin.describeTopics(TopicCollection.ofTopicNames(now)).allTopicNames();
            }
        }
        return Map.of();
    }

    private static Map<String, UUID> ids(Map<String, TopicDescription> descriptions) {
        Map<String, UUID> ids = new HashMap<>();
        descriptions.forEach((topic, description) -> ids.put(topic, id(description)));
        return ids;
    }

    /**
     * Returns the names of the topics that there are now.
     *
     * @throws KafkaException if the brokers did not tell
     */
    Set<String> names() {
        return answer("The names of the topics", admin.listTopics().names());
    }

    /**
     * Returns for how long each topic may deliver a record, the segment included that only goes as a whole; absent for one
     * that keeps some for ever.
     *
     * @throws KafkaException if the brokers did not tell
     */
    Map<String, Optional<Duration>> retention(Collection<String> topics) {
        Map<String, Optional<Duration>> retention = new HashMap<>();
        answer(
                        "The retention of the topics",
                        admin.describeConfigs(topics.stream()
                                        .map(topic -> new ConfigResource(ConfigResource.Type.TOPIC, topic))
                                        .toList())
                                .all())
                .forEach((topic, config) -> retention.put(topic.name(), retention(config)));
        return retention;
    }

    private static Optional<Duration> retention(Config config) {
        ConfigEntry cleanup = config.get(TopicConfig.CLEANUP_POLICY_CONFIG);
        ConfigEntry kept = config.get(TopicConfig.RETENTION_MS_CONFIG);
        if (kept == null || (cleanup != null && !cleanup.value().contains(TopicConfig.CLEANUP_POLICY_DELETE))) {
            return Optional.empty();
        }
        long millis = Long.parseLong(kept.value());
        ConfigEntry segment = config.get(TopicConfig.SEGMENT_MS_CONFIG);
        long more = segment == null ? 0 : Long.parseLong(segment.value());
        // A topic may say the largest number instead of "for ever".
        return millis < 0 || millis > Long.MAX_VALUE - more
                ? Optional.empty()
                : Optional.of(Duration.ofMillis(millis + more));
    }

    private static <T> T answer(String what, KafkaFuture<T> asked) {
        try {
            return asked.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw new KafkaException(what + " could not be read", e.getCause());
        } catch (TimeoutException e) {
            throw new KafkaException(what + " was not told within " + PATIENCE, e);
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    /**
     * Brokers before Kafka 2.8, and some that only speak its protocol, know no ids and name the same zeros for every topic:
     * all topics of a consumer would share their offsets. There the name is the identity.
     */
    static UUID id(TopicDescription description) {
        Uuid id = description.topicId();
        if (id.equals(Uuid.ZERO_UUID)) {
            return UUID.nameUUIDFromBytes(("topic " + description.name()).getBytes(StandardCharsets.UTF_8));
        }
        return new UUID(id.getMostSignificantBits(), id.getLeastSignificantBits());
    }

    @Override
    public void close() {
        admin.close(Duration.ZERO);
    }
}
