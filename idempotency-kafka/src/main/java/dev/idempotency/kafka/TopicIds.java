package dev.idempotency.kafka;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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

/** Asks the brokers for the identities of topics, which a topic that is deleted and created again does not keep. */
final class TopicIds implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Admin admin;

    /** Makes a client with those of the consumer's settings that it knows. */
    TopicIds(Map<String, Object> consumerProperties) {
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
        Map<String, UUID> ids = new HashMap<>();
        answer(
                        "The id of a topic",
                        admin.describeTopics(TopicCollection.ofTopicNames(topics))
                                .allTopicNames())
                .forEach((topic, description) -> ids.put(topic, id(description)));
        return ids;
    }

    /**
     * Returns how long each topic keeps its records; absent for one that keeps some for ever.
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
        return millis < 0 ? Optional.empty() : Optional.of(Duration.ofMillis(millis));
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
