package dev.idempotency.examples.chain;

import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** What the clients were told: which order stands for which intent. Safe for use by many threads. */
final class Answers {
    private final Map<Integer, Set<UUID>> ordersByIntent = new ConcurrentHashMap<>();
    private int closed;

    /** Notes that a client was told of this order. */
    void told(Intent intent, UUID orderId) {
        ordersByIntent
                .computeIfAbsent(intent.number(), number -> ConcurrentHashMap.newKeySet())
                .add(orderId);
    }

    /** Notes that nothing more is sent for the intent. */
    synchronized void closed(Intent intent) {
        closed++;
        notifyAll();
    }

    synchronized int closed() {
        return closed;
    }

    /** Waits until nothing more is sent for this many intents, or the time is over; the caller looks again. */
    synchronized void awaitClosed(int count, long patienceMillis) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(patienceMillis);
        while (closed < count) {
            long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
            if (left <= 0) {
                return;
            }
            wait(left);
        }
    }

    /** Returns the orders that clients were told of for this intent: one, if all is well. */
    Set<UUID> orders(Intent intent) {
        return Set.copyOf(ordersByIntent.getOrDefault(intent.number(), Set.of()));
    }
}
