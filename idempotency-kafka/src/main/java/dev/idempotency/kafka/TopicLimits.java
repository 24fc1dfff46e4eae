package dev.idempotency.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How large a record may be on each topic, asked from the broker and remembered for a while; unlimited where the broker
 * does not say. Thread-safe.
 */
final class TopicLimits implements AutoCloseable {
    /** How long the first record of a topic waits for the answer. */
    static final Duration LONGEST_WAIT = Duration.ofSeconds(1);

    private static final Logger log = LoggerFactory.getLogger(TopicLimits.class);

    private static final Duration REMEMBERED = Duration.ofMinutes(5);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);

    private final Admin admin;
    private final Map<String, Limit> limits = new ConcurrentHashMap<>();

    private record Limit(long mostBytes, long askedAtNanos) {}

    TopicLimits(Map<String, Object> producerSettings) {
        Map<String, Object> settings = new HashMap<>(producerSettings);
        settings.keySet().retainAll(AdminClientConfig.configNames());
        settings.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, 10_000);
        settings.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, 5_000);
        this.admin = Admin.create(settings);
    }

    long mostBytes(String topic) {
        Limit known = limits.get(topic);
        long now = System.nanoTime();
        if (known == null) {
            await(ask(topic, now), topic);
            known = limits.getOrDefault(topic, new Limit(Long.MAX_VALUE, now));
        } else if (now - known.askedAtNanos() > REMEMBERED.toNanos()) {
            ask(topic, now);
        }
        return known.mostBytes();
    }

    private static void await(CountDownLatch answered, String topic) {
        try {
            if (!answered.await(LONGEST_WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
                log.debug("The limit of topic {} is not known yet", topic);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Remembers what is known, so that nobody else asks meanwhile, and replaces it when the answer comes. */
    @SuppressWarnings("FutureReturnValueIgnored") // the action has had what the future could tell
    private CountDownLatch ask(String topic, long now) {
        limits.merge(topic, new Limit(Long.MAX_VALUE, now), (old, fresh) -> new Limit(old.mostBytes(), now));
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        CountDownLatch answered = new CountDownLatch(1);
        admin.describeConfigs(List.of(resource)).all().whenComplete((configs, failure) -> {
            ConfigEntry entry = configs == null ? null : entry(configs.get(resource));
            if (entry != null) {
                limits.put(topic, new Limit(Long.parseLong(entry.value()), now));
            }
            answered.countDown();
        });
        return answered;
    }

    private static @Nullable ConfigEntry entry(@Nullable Config config) {
        return config == null ? null : config.get(TopicConfig.MAX_MESSAGE_BYTES_CONFIG);
    }

    @Override
    public void close() {
        admin.close(CLOSE_TIMEOUT);
    }
}
