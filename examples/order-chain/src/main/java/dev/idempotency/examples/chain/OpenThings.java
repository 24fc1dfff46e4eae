package dev.idempotency.examples.chain;

import java.util.ArrayDeque;
import java.util.Deque;

/** What has to be closed at the end, the last opened first. Safe for use by many threads. */
final class OpenThings implements AutoCloseable {
    private final Deque<AutoCloseable> things = new ArrayDeque<>();
    private boolean closed;

    /** Takes care of the thing from now on; it is closed at once if the end has come meanwhile. */
    <T extends AutoCloseable> T add(T thing) {
        synchronized (this) {
            if (!closed) {
                things.push(thing);
                return thing;
            }
        }
        close(thing);
        throw new IllegalStateException("The demo is being ended");
    }

    @Override
    public synchronized void close() {
        closed = true;
        while (!things.isEmpty()) {
            close(things.pop());
        }
    }

    private static void close(AutoCloseable thing) {
        try {
            thing.close();
        } catch (Exception e) {
            System.err.println("Could not close " + thing.getClass().getSimpleName() + ": " + e);
        }
    }
}
