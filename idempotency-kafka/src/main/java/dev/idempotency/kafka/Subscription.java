package dev.idempotency.kafka;

import java.util.Collection;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.jspecify.annotations.Nullable;

/**
 * Which topics a consumer gets.
 *
 * @param topics their names; empty if there is a pattern
 * @param pattern what their whole names match, also of those that are created later; null if they are named
 */
record Subscription(List<String> topics, @Nullable Pattern pattern) {
    boolean isEmpty() {
        return topics.isEmpty() && pattern == null;
    }

    boolean includes(String topic) {
        return pattern == null ? topics.contains(topic) : pattern.matcher(topic).matches();
    }

    /** Those of the present ones that a consumer gets. */
    List<String> among(Collection<String> present) {
        return present.stream().filter(this::includes).sorted().toList();
    }

    void subscribe(Consumer<?, ?> consumer, ConsumerRebalanceListener listener) {
        if (pattern == null) {
            consumer.subscribe(topics, listener);
        } else {
            consumer.subscribe(pattern, listener);
        }
    }
}
