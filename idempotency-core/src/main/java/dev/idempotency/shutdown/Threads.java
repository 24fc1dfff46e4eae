package dev.idempotency.shutdown;

/** Makes the threads of a shutdown, which must not inherit the caller's thread-locals. */
final class Threads {
    private Threads() {}

    static Thread daemon(String name, Runnable body) {
        return create(name, body, true);
    }

    /** A thread that keeps the JVM alive; its body must be bounded in time. */
    static Thread keepingAlive(String name, Runnable body) {
        return create(name, body, false);
    }

    private static Thread create(String name, Runnable body, boolean daemon) {
        Thread thread = new Thread(null, body, name, 0, false);
        thread.setDaemon(daemon);
        return thread;
    }
}
