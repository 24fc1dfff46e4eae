package dev.idempotency.outbox;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Wakes one waiting thread; a signal that nobody waits for is kept until somebody does. Thread-safe. */
final class Signal {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition raisedCondition = lock.newCondition();
    private boolean raised;

    void raise() {
        lock.lock();
        try {
            raised = true;
            raisedCondition.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits for a signal and takes it; returns false if the time is over or the thread was interrupted. */
    boolean await(long nanos) {
        lock.lock();
        try {
            long left = nanos;
            while (!raised && left > 0) {
                left = raisedCondition.awaitNanos(left);
            }
            boolean result = raised;
            raised = false;
            return result;
        } catch (InterruptedException e) {
            // Nobody here interrupts these threads; whoever does gets the flag back, and the loop looks at its state.
            Thread.currentThread().interrupt();
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the shorter of a wait and the time until an instant of the monotonic clock. */
    static long until(long instantNanos, long nowNanos, long mostNanos) {
        return Math.max(0, Math.min(mostNanos, instantNanos - nowNanos));
    }

    static long toNanos(long millis) {
        return TimeUnit.MILLISECONDS.toNanos(millis);
    }
}
