package dev.idempotency.kafka;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Decides which events are sent alone.
 *
 * <p>When a broker refuses a batch, Kafka's client calls several bad records by one name whatever was wrong with them, and
 * can blame good ones. So what was refused in a batch is a suspect, and is sent once more in a batch of its own, where
 * the answer is its own. Alone means by another producer; the two never have events of one topic under way at the same
 * time, because nothing would keep the order between them.
 *
 * <p>Safe for use by many threads.
 */
final class Suspects {
    /** More than a relay has under way. Beyond it the answer to a batch is taken as it stands. */
    private static final int MOST = 10_000;

    /** How an event goes. */
    enum Route {
        TOGETHER,
        ALONE,
        /** Not now: events of its topic that may come before it are still under way together with others. */
        LATER
    }

    private static final class Topic {
        private final Set<UUID> suspects = new LinkedHashSet<>();
        private int together;
        private int alone;

        boolean isIdle() {
            return suspects.isEmpty() && together == 0 && alone == 0;
        }
    }

    /** Guarded by this. */
    private final Map<String, Topic> topics = new HashMap<>();

    /** Says how an event goes, and counts it as under way unless it goes later. */
    synchronized Route begin(String topic, UUID event) {
        Topic state = topics.computeIfAbsent(topic, name -> new Topic());
        if (state.alone == 0 && !state.suspects.contains(event)) {
            state.together++;
            return Route.TOGETHER;
        }
        if (state.together > 0) {
            return Route.LATER;
        }
        state.alone++;
        return Route.ALONE;
    }

    /** Notes that an event is under way no more. */
    synchronized void end(String topic, Route route) {
        Topic state = topics.get(topic);
        if (state == null) {
            return;
        }
        if (route == Route.TOGETHER) {
            state.together--;
        } else if (route == Route.ALONE) {
            state.alone--;
        }
        forgetIfIdle(topic, state);
    }

    /** Makes an event go alone from now on; false if there are too many of them. */
    synchronized boolean suspect(String topic, UUID event) {
        Topic state = topics.computeIfAbsent(topic, name -> new Topic());
        boolean taken = state.suspects.size() < MOST;
        if (taken) {
            state.suspects.add(event);
        }
        forgetIfIdle(topic, state);
        return taken;
    }

    /** Takes note of an answer that was the event's own. */
    synchronized void clear(String topic, UUID event) {
        Topic state = topics.get(topic);
        if (state != null) {
            state.suspects.remove(event);
            forgetIfIdle(topic, state);
        }
    }

    private void forgetIfIdle(String topic, Topic state) {
        if (state.isIdle()) {
            topics.remove(topic);
        }
    }
}
