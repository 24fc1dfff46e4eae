package dev.idempotency.client;

import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.PublishOutcome;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * Lets a bounded number of deliveries go at the same time, those of one lane one after the other.
 *
 * <p>An event waits no longer than the bound and one call, without a timer: when it has waited for the bound, every call
 * that is then under way ends within the time of one call, and with each end those that have waited too long are
 * answered.
 *
 * <p>Callbacks and calls run outside the lock.
 */
final class DeliveryQueue {
    private final int places;
    private final long longestWaitNanos;
    private final LongSupplier nanoTime;
    private final Consumer<Delivery> sender;

    private final Object lock = new Object();

    /** In the order in which they were handed over. */
    private final ArrayDeque<Delivery> waiting = new ArrayDeque<>();

    private final Set<Object> busyLanes = new HashSet<>();
    private int underWay;
    private boolean closed;
    private boolean starting;
    private boolean startAgain;

    DeliveryQueue(int places, Duration longestWait, LongSupplier nanoTime, Consumer<Delivery> sender) {
        this.places = places;
        this.longestWaitNanos = longestWait.toNanos();
        this.nanoTime = nanoTime;
        this.sender = sender;
    }

    void add(Delivery delivery) {
        boolean refused;
        synchronized (lock) {
            refused = closed;
            if (!refused) {
                waiting.add(delivery);
            }
        }
        if (refused) {
            delivery.end(notSent("the publisher is closed"));
        } else {
            startWhatMay();
        }
    }

    /**
     * Takes note that a call has ended. Its lane stays busy until the relay has been told: before that the relay would go on
     * handing over events of the key, and the first of them would overtake the one that failed.
     */
    void ended(Delivery delivery, PublishOutcome outcome) {
        try {
            delivery.end(outcome);
        } finally {
            leave(delivery, outcome);
        }
    }

    private void leave(Delivery delivery, PublishOutcome outcome) {
        List<Delivery> behind = new ArrayList<>();
        synchronized (lock) {
            underWay--;
            Optional<Object> lane = laneOf(delivery);
            lane.ifPresent(busyLanes::remove);
            if (outcome instanceof PublishOutcome.Failed && lane.isPresent()) {
                take(behind, waitingOne -> laneOf(waitingOne).equals(lane));
            }
            lock.notifyAll();
        }
        behind.forEach(later -> later.end(notSent("an earlier event of its key failed")));
        startWhatMay();
    }

    void close(Duration longest) {
        List<Delivery> left = new ArrayList<>();
        synchronized (lock) {
            closed = true;
            take(left, anyOne -> true);
        }
        left.forEach(delivery -> delivery.end(notSent("the publisher is closing")));
        long end = System.nanoTime() + longest.toNanos();
        boolean interrupted = false;
        synchronized (lock) {
            while (underWay > 0 && System.nanoTime() - end < 0) {
                try {
                    lock.wait(Math.max(1, (end - System.nanoTime()) / 1_000_000));
                } catch (InterruptedException e) {
                    interrupted = true;
                    break;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** One thread at a time, in a loop: a call that ends at once must not start the next from within itself. */
    private void startWhatMay() {
        synchronized (lock) {
            startAgain = true;
            if (starting) {
                return;
            }
            starting = true;
        }
        List<Delivery> late = new ArrayList<>();
        List<Delivery> next = new ArrayList<>();
        while (choose(late, next)) {
            late.forEach(delivery -> delivery.end(notSent("others before it took too long")));
            next.forEach(sender);
            late.clear();
            next.clear();
        }
    }

    private boolean choose(List<Delivery> late, List<Delivery> next) {
        synchronized (lock) {
            if (!startAgain) {
                starting = false;
                return false;
            }
            startAgain = false;
            takeLate(late);
            for (Iterator<Delivery> candidates = waiting.iterator(); underWay < places && candidates.hasNext(); ) {
                Delivery candidate = candidates.next();
                if (laneOf(candidate).map(busyLanes::add).orElse(true)) {
                    candidates.remove();
                    underWay++;
                    next.add(candidate);
                }
            }
            return true;
        }
    }

    /** With an event that has waited too long go those behind it, which would overtake it. */
    private void takeLate(List<Delivery> late) {
        long now = nanoTime.getAsLong();
        Set<Object> lanes = new HashSet<>();
        take(late, delivery -> {
            Optional<Object> lane = laneOf(delivery);
            boolean isLate = now - delivery.handedOverNanos() > longestWaitNanos
                    || lane.filter(lanes::contains).isPresent();
            if (isLate) {
                lane.ifPresent(lanes::add);
            }
            return isLate;
        });
    }

    private void take(List<Delivery> target, Predicate<Delivery> which) {
        waiting.removeIf(delivery -> which.test(delivery) && target.add(delivery));
    }

    /** What keeps its order; an event without a key keeps none. */
    private static Optional<Object> laneOf(Delivery delivery) {
        OutboxEvent event = delivery.row().event();
        Optional<Object> named = event.orderingKey().map(key -> key);
        return named.or(() -> event.key().map(ByteBuffer::wrap));
    }

    private static PublishOutcome notSent(String why) {
        return new PublishOutcome.Failed(PublishOutcome.Kind.TOPIC, new IOException("Not sent: " + why));
    }
}
