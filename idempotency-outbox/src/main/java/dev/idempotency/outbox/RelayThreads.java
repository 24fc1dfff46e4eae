package dev.idempotency.outbox;

import java.time.Duration;

/** Starts and awaits the relay's threads. They are daemons: nothing is lost when they die with the process. */
final class RelayThreads {
    private RelayThreads() {}

    static Thread of(String name, Runnable body) {
        Thread thread = new Thread(body, "outbox-relay-" + name);
        thread.setDaemon(true);
        return thread;
    }

    /** Waits for the thread's end and returns whether it came in time; a thread that never ran has ended. */
    static boolean join(Thread thread, Duration timeout) {
        long end = System.nanoTime() + timeout.toNanos();
        boolean interrupted = false;
        try {
            while (thread.isAlive()) {
                long left = end - System.nanoTime();
                if (left <= 0) {
                    return false;
                }
                try {
                    thread.join(Math.max(1, left / 1_000_000));
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            return true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
