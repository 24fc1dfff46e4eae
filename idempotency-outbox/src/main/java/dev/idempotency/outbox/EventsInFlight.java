package dev.idempotency.outbox;

import dev.idempotency.spi.OutboxRowId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The events that were handed to the publisher and are not marked yet, bounded in number and bytes. Thread-safe.
 *
 * <p>A read may return a row whose mark is committed while the read runs: its snapshot is older. Such a row must not be
 * taken for new, so what is finished during a read stays known until the next read begins.
 *
 * <p>A row whose number was used before, for an event that is still on its way, is another row.
 */
final class EventsInFlight {
    private final int mostEvents;
    private final long mostBytes;
    private final Map<OutboxRowId, Sent> sent = new HashMap<>();
    private final Map<OutboxRowId, Sent> finishedSinceRead = new HashMap<>();
    private long bytes;

    EventsInFlight(int mostEvents, long mostBytes) {
        this.mostEvents = mostEvents;
        this.mostBytes = mostBytes;
    }

    synchronized void readBegins() {
        finishedSinceRead.clear();
    }

    /** Returns the event if it is on its way, or was when the present read began. */
    synchronized @Nullable Sent find(OutboxRowId id) {
        Sent current = sent.get(id);
        return current != null ? current : finishedSinceRead.get(id);
    }

    /**
     * Lets an event that is on its way be marked under a later right, and returns false if there is none: its mark may have
     * come too late, so it has to be sent again.
     */
    synchronized boolean adopt(OutboxRowId id, Fence later) {
        Sent unmarked = sent.get(id);
        if (unmarked != null) {
            unmarked.holdUnder(later);
        }
        return unmarked != null;
    }

    synchronized void add(Sent event) {
        sent.put(event.row().id(), event);
        bytes += event.bytes();
    }

    /** Takes marked events out, and returns them; those that have a later right by now stay, to be marked under that. */
    synchronized List<Sent> remove(Collection<Sent> events, Fence markedUnder) {
        List<Sent> removed = new ArrayList<>(events.size());
        for (Sent event : events) {
            if (event.fence() != markedUnder) {
                continue;
            }
            removed.add(event);
            if (sent.remove(event.row().id(), event)) {
                bytes -= event.bytes();
                finishedSinceRead.put(event.row().id(), event);
            }
        }
        return removed;
    }

    /** Forgets what was sent under a right that has ended, answered or not. */
    synchronized void forget(Fence fence) {
        sent.values().removeIf(event -> {
            boolean ended = event.fence() == fence;
            bytes -= ended ? event.bytes() : 0;
            return ended;
        });
    }

    /** Returns how many more events may be sent now; 0 if the bytes are used up. */
    synchronized int room() {
        return bytes >= mostBytes ? 0 : Math.max(0, mostEvents - sent.size());
    }

    /** Returns how many more bytes may be sent now; at least 1, because one event may exceed what is left. */
    synchronized long roomBytes() {
        return Math.max(1, mostBytes - bytes);
    }

    synchronized int count() {
        return sent.size();
    }

    synchronized long bytes() {
        return bytes;
    }

    synchronized boolean any(Predicate<Sent> condition) {
        return sent.values().stream().anyMatch(condition);
    }
}
