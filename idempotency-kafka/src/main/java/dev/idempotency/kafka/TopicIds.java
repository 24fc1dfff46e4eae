package dev.idempotency.kafka;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicCollection;
import org.apache.kafka.common.Uuid;
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
        try {
            Map<String, UUID> ids = new HashMap<>();
            admin.describeTopics(TopicCollection.ofTopicNames(topics))
                    .allTopicNames()
                    .get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
                    .forEach((topic, description) -> ids.put(topic, id(description)));
            return ids;
        } catch (ExecutionException e) {
            throw new KafkaException("The ids of the topics could not be read", e.getCause());
        } catch (TimeoutException e) {
            throw new KafkaException("The ids of the topics were not told within " + PATIENCE, e);
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    private static UUID id(TopicDescription description) {
        Uuid id = description.topicId();
        return new UUID(id.getMostSignificantBits(), id.getLeastSignificantBits());
    }

    @Override
    public void close() {
        admin.close(Duration.ZERO);
    }
}
