package dev.idempotency.spi;

import java.util.Set;
import java.util.UUID;

/**
 * Which rows an operator means; whoever calls the administration of an outbox makes it. An empty set leaves its part open.
 *
 * @param eventIds the events' ids
 * @param topics the events' topics
 * @param tenants the events' tenants
 */
public record OutboxFilter(Set<UUID> eventIds, Set<String> topics, Set<String> tenants) {
    /** Copies the sets. */
    public OutboxFilter {
        eventIds = Set.copyOf(eventIds);
        topics = Set.copyOf(topics);
        tenants = Set.copyOf(tenants);
    }

    /**
     * Returns the filter that every row passes.
     *
     * @return the filter
     */
    public static OutboxFilter all() {
        return new OutboxFilter(Set.of(), Set.of(), Set.of());
    }

    /**
     * Returns the filter for single events.
     *
     * @param ids the events' ids
     * @return the filter
     * @throws IllegalArgumentException if there is none: every row would pass
     */
    public static OutboxFilter ofEvents(UUID... ids) {
        return new OutboxFilter(Set.of(requireSome(ids)), Set.of(), Set.of());
    }

    /**
     * Returns the filter for whole topics.
     *
     * @param names the topics
     * @return the filter
     * @throws IllegalArgumentException if there is none: every row would pass
     */
    public static OutboxFilter ofTopics(String... names) {
        return new OutboxFilter(Set.of(), Set.of(requireSome(names)), Set.of());
    }

    /**
     * Returns this filter, for these tenants only.
     *
     * @param ids the tenants
     * @return the filter
     * @throws IllegalArgumentException if there is none: every row would pass
     */
    public OutboxFilter withTenants(String... ids) {
        return new OutboxFilter(eventIds, topics, Set.of(requireSome(ids)));
    }

    private static <T> T[] requireSome(T[] names) {
        if (names.length == 0) {
            throw new IllegalArgumentException(
                    "A filter for none would let every row pass: use all() if that is meant");
        }
        return names;
    }
}
