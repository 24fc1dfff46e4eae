package dev.idempotency.outbox;

import java.time.Duration;
import java.util.function.DoubleSupplier;

/**
 * Keeps a relay from asking again and again what cannot answer: open after a failure for a while that doubles, then one
 * event is let through as a probe. Thread-safe.
 */
final class Breaker {
    private final Duration first;
    private final Duration longest;
    private final DoubleSupplier random;
    private int failures;
    private long openUntilNanos;
    private boolean probing;

    Breaker(Duration first, Duration longest, DoubleSupplier random) {
        this.first = first;
        this.longest = longest;
        this.random = random;
    }

    /** Returns how many events may be sent now: any number, one as a probe, or none. */
    synchronized int permits(long nowNanos) {
        if (failures == 0) {
            return Integer.MAX_VALUE;
        }
        return probing || nowNanos - openUntilNanos < 0 ? 0 : 1;
    }

    synchronized boolean isOpen() {
        return failures > 0;
    }

    /** Returns how long it stays open; 0 if it lets something through, or waits for the probe's answer. */
    synchronized long remainingNanos(long nowNanos) {
        return failures == 0 || probing ? 0 : Math.max(0, openUntilNanos - nowNanos);
    }

    /** Notes that an event is on its way; while the breaker is open, it is the probe. */
    synchronized void sent() {
        probing = failures > 0;
    }

    synchronized void succeeded() {
        failures = 0;
        probing = false;
    }

    /** Opens, or stays open for longer; failures of events that were sent before it opened count once. */
    synchronized void failed(long nowNanos) {
        if (failures > 0 && !probing) {
            return;
        }
        probing = false;
        failures++;
        Duration wait = RetryPolicy.exponential(first, longest, failures);
        openUntilNanos = nowNanos + (long) (wait.toNanos() * (0.5 + random.getAsDouble() / 2));
    }

    /** Notes that the probe was given back without having been sent. */
    synchronized void notSent() {
        probing = false;
    }
}
