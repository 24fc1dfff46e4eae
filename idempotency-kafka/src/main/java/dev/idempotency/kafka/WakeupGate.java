package dev.idempotency.kafka;

import java.time.Duration;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.errors.WakeupException;

/**
 * Wakes a consumer up only while it polls.
 *
 * <p>A wake-up that comes at any other time stays pending and aborts the next call, which may be the commit of offsets:
 * tested, the commit was applied and said that it was not.
 */
final class WakeupGate {
    private final Consumer<byte[], byte[]> consumer;
    private boolean polling;
    private boolean closed;
    private boolean woken;

    WakeupGate(Consumer<byte[], byte[]> consumer) {
        this.consumer = consumer;
    }

    /** Polls, unless the gate is closed; ends early when it is closed meanwhile. */
    ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
        synchronized (this) {
            if (closed) {
                return ConsumerRecords.empty();
            }
            polling = true;
        }
        try {
            return consumer.poll(timeout);
        } catch (WakeupException e) {
            synchronized (this) {
                woken = false;
            }
            return ConsumerRecords.empty();
        } finally {
            leave();
        }
    }

    private void leave() {
        boolean pending;
        synchronized (this) {
            polling = false;
            pending = woken;
            woken = false;
        }
        if (pending) {
            consume();
        }
    }

    /** Uses up a wake-up that came when the poll was already over. */
    private void consume() {
        try {
            consumer.pause(consumer.assignment());
            consumer.poll(Duration.ZERO);
        } catch (WakeupException e) {
            // This is it.
        }
    }

    /** Ends the present poll, if there is one, and makes all later ones return at once. */
    synchronized void close() {
        closed = true;
        if (polling) {
            woken = true;
            consumer.wakeup();
        }
    }
}
