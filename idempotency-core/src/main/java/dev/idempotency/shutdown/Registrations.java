package dev.idempotency.shutdown;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * The tasks and watches in order of registration. The lock is held only for list operations, never while foreign code
 * runs, so start-up and shutdown cannot wait for each other here.
 */
final class Registrations {
    private final List<Object> entries = new ArrayList<>();

    /** A task of one phase. */
    record Task(Phase phase, String name, ShutdownTask task) {}

    /** A resource that must stay open until {@link Phase#CLOSE}. */
    record Watch(String name, BooleanSupplier closed) {}

    /** Adds the entry and returns true, or returns false if {@code begun} is already true. */
    synchronized boolean add(Object entry, BooleanSupplier begun) {
        if (begun.getAsBoolean()) {
            return false;
        }
        return entries.add(entry);
    }

    synchronized void remove(Object entry) {
        entries.removeIf(candidate -> candidate == entry);
    }

    /** Returns what has been registered; called after {@code begun} has turned true, so nothing can follow. */
    synchronized <T> List<T> snapshot(Class<T> type) {
        List<T> matching = new ArrayList<>();
        for (Object entry : entries) {
            if (type.isInstance(entry)) {
                matching.add(type.cast(entry));
            }
        }
        return matching;
    }
}
