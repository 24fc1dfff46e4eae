package dev.idempotency.kafka;

import dev.idempotency.transaction.TransactionLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerConfig;

/** What is looked at before a consumer starts: settings under which a guarantee would not hold, or be worth little. */
final class StartupChecks {
    private static final int DEFAULT_POLL_INTERVAL = 300_000;

    private StartupChecks() {}

    static void refuseAutoCommit(Map<String, Object> properties) {
        Object autoCommit = properties.get(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG);
        if (autoCommit != null && Boolean.parseBoolean(autoCommit.toString().strip())) {
            throw new IllegalArgumentException("The property enable.auto.commit must not be true: it commits offsets"
                    + " before their records are processed, and what is in hand at a crash would be lost. Remove it");
        }
    }

    /** Half of what Kafka grants between two polls. */
    static Duration processingBudget(Map<String, Object> properties) {
        return pollInterval(properties).dividedBy(2);
    }

    private static Duration pollInterval(Map<String, Object> properties) {
        int interval = number(properties, ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG, DEFAULT_POLL_INTERVAL);
        if (interval < 1) {
            throw new IllegalArgumentException(
                    "The property max.poll.interval.ms must be positive, but is " + interval);
        }
        return Duration.ofMillis(interval);
    }

    static int number(Map<String, Object> properties, String name, int otherwise) {
        Object value = properties.getOrDefault(name, otherwise);
        try {
            return Integer.parseInt(value.toString().strip());
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("The property " + name + " must be a number, but is " + value, e);
        }
    }

    /** What an operator should know about these settings; empty if they are sound. */
    static List<String> warnings(Map<String, Object> properties, TransactionLimits limits) {
        List<String> warnings = new ArrayList<>();
        if (!"read_committed".equals(String.valueOf(properties.get(ConsumerConfig.ISOLATION_LEVEL_CONFIG)))) {
            warnings.add("The property isolation.level is not read_committed: records of producers' transactions that"
                    + " were aborted will take effect. Remove it");
        }
        if ("latest".equals(String.valueOf(properties.get(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG)))) {
            warnings.add("The property auto.offset.reset is latest: records that are sent before a partition's first"
                    + " assignment, or whose offset Kafka has forgotten, will never be handled. Use earliest");
        }
        Duration longest = limits.statement().plus(limits.idle());
        if (pollInterval(properties).compareTo(longest.multipliedBy(2)) < 0) {
            warnings.add("The property max.poll.interval.ms is "
                    + pollInterval(properties).toMillis()
                    + ", less than twice what one statement and one pause of a handler may take ("
                    + longest.toMillis() + " ms by the limits of transactions): a slow record loses its partition."
                    + " Raise the property or lower the limits");
        }
        return warnings;
    }

    /**
     * What an operator should know about the time that marks are kept.
     *
     * @param marks the age at which marks are deleted
     * @param topics how long each topic keeps its records; absent if for ever
     */
    static Optional<String> retentionWarning(Duration marks, Map<String, Optional<Duration>> topics) {
        Map<String, String> longer = new TreeMap<>();
        topics.forEach((topic, kept) -> {
            if (kept.isEmpty() || kept.get().compareTo(marks) > 0) {
                longer.put(topic, kept.map(Duration::toString).orElse("for ever"));
            }
        });
        return longer.isEmpty()
                ? Optional.empty()
                : Optional.of("Marks are deleted after " + marks + ", but these topics keep their records longer: "
                        + longer + ". A record that is delivered again after that runs again: keep marks longer than"
                        + " the topics keep records");
    }
}
