package dev.idempotency.outbox;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** Which topics rest: those that somebody paused, and those that failed a moment ago. Thread-safe. */
final class Topics {
    private final Map<String, Breaker> breakers = new ConcurrentHashMap<>();
    private final Set<String> paused = ConcurrentHashMap.newKeySet();
    private final Supplier<Breaker> newBreaker;

    Topics(Supplier<Breaker> newBreaker) {
        this.newBreaker = newBreaker;
    }

    void pause(String topic) {
        paused.add(topic);
    }

    void resume(String topic) {
        paused.remove(topic);
    }

    /** Returns the topics for which nothing may be read now. */
    Set<String> resting(long nowNanos) {
        Set<String> resting = new HashSet<>(paused);
        breakers.forEach((topic, breaker) -> {
            if (breaker.permits(nowNanos) == 0) {
                resting.add(topic);
            }
        });
        return resting;
    }

    /** Returns the topics that failed and have not answered well since, in their alphabetical order. */
    Set<String> failing() {
        return new TreeSet<>(breakers.keySet());
    }

    boolean permits(String topic, long nowNanos) {
        if (paused.contains(topic)) {
            return false;
        }
        Breaker breaker = breakers.get(topic);
        return breaker == null || breaker.permits(nowNanos) > 0;
    }

    void sent(String topic) {
        Breaker breaker = breakers.get(topic);
        if (breaker != null) {
            breaker.sent();
        }
    }

    void failed(String topic, long nowNanos) {
        breakers.computeIfAbsent(topic, name -> newBreaker.get()).failed(nowNanos);
    }

    /** Notes an answer that says nothing about the topic's health, so that the next event may be the probe. */
    void answered(String topic) {
        Breaker breaker = breakers.get(topic);
        if (breaker != null) {
            breaker.notSent();
        }
    }

    void succeeded(String topic) {
        if (!breakers.isEmpty()) {
            breakers.remove(topic);
        }
    }
}
