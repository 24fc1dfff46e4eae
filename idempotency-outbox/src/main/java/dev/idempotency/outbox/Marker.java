package dev.idempotency.outbox;

import dev.idempotency.spi.OutboxFailure;
import dev.idempotency.spi.OutboxRowId;
import dev.idempotency.spi.PublishOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes to the store what became of the events that were sent, many at a time, on one thread.
 *
 * <p>Publishers' callbacks only enqueue here: a statement in a broker's input and output thread would hold up every
 * other send.
 */
final class Marker {
    private static final Logger log = LoggerFactory.getLogger(Marker.class);

    private static final int LARGEST_BATCH = 2_000;
    private static final Duration FIRST_WAIT = Duration.ofMillis(50);
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(5);

    private final RelaySettings settings;
    private final EventsInFlight inFlight;
    private final EventSource source;
    private final RelayCounters counters;
    private final Runnable marked;
    private final ConcurrentLinkedQueue<Sent> completed = new ConcurrentLinkedQueue<>();
    private final Signal work = new Signal();
    private volatile boolean stopped;

    /** Creates the marker; {@code marked} is called after each batch, when events have left the flight. */
    Marker(
            RelaySettings settings,
            EventsInFlight inFlight,
            EventSource source,
            RelayCounters counters,
            Runnable marked) {
        this.settings = settings;
        this.inFlight = inFlight;
        this.source = source;
        this.counters = counters;
        this.marked = marked;
    }

    /** Takes an event that has an outcome; called on any thread, never blocks. */
    void enqueue(Sent event) {
        completed.add(event);
        work.raise();
    }

    /** Makes {@link #run} return, at the latest after the statement in hand; what is not marked stays as it is. */
    void stop() {
        stopped = true;
        work.raise();
    }

    void run() {
        List<Sent> batch = new ArrayList<>(LARGEST_BATCH);
        int failures = 0;
        while (!stopped) {
            if (batch.isEmpty() && !take(batch)) {
                work.await(Signal.toNanos(1_000));
                continue;
            }
            try {
                mark(batch);
                failures = 0;
            } catch (RuntimeException | Error e) {
                // The fence makes a repeated mark harmless, and a mark that is never written only means a resend.
                failures++;
                log.warn(
                        "Relay {}: {} events are not marked yet, trying again: {}",
                        settings.name(),
                        batch.size(),
                        e.toString());
                log.debug("The exception", e);
                work.await(RetryPolicy.exponential(FIRST_WAIT, LONGEST_WAIT, failures)
                        .toNanos());
            }
        }
    }

    /**
     * Marks on the caller's thread what was sent under this fence, once all of it is answered or the time is over. What is
     * not answered by then stays as it is.
     */
    void settle(Fence fence, long untilNanos) {
        List<Sent> answered = new ArrayList<>();
        while (true) {
            for (Sent next = completed.poll(); next != null; next = completed.poll()) {
                // An answer to what was sent under an earlier fence comes too late: its rows are free again.
                if (next.fence() == fence) {
                    answered.add(next);
                }
            }
            long now = settings.ticker().getAsLong();
            if (answered.size() >= inFlight.count() || now - untilNanos >= 0) {
                break;
            }
            work.await(Signal.until(untilNanos, now, Signal.toNanos(1_000)));
        }
        mark(answered);
    }

    private boolean take(List<Sent> batch) {
        while (batch.size() < LARGEST_BATCH) {
            Sent next = completed.poll();
            if (next == null) {
                break;
            }
            batch.add(next);
        }
        return !batch.isEmpty();
    }

    /** Marks the events and takes them out of the batch as their statements succeed. */
    private void mark(List<Sent> batch) {
        IdentityHashMap<Fence, List<Sent>> byFence = new IdentityHashMap<>();
        for (Sent event : batch) {
            byFence.computeIfAbsent(event.fence(), fence -> new ArrayList<>()).add(event);
        }
        for (Map.Entry<Fence, List<Sent>> entry : byFence.entrySet()) {
            Fence fence = entry.getKey();
            List<Sent> events = entry.getValue();
            finish(batch, fence, select(events, Fate.PUBLISHED), this::markPublished);
            finish(batch, fence, select(events, Fate.FAILED), this::markFailed);
            finish(batch, fence, select(events, Fate.GIVEN_BACK), this::giveBack);
        }
    }

    private void finish(List<Sent> batch, Fence fence, List<Sent> events, Statement statement) {
        if (events.isEmpty()) {
            return;
        }
        statement.run(fence, events);
        batch.removeAll(new HashSet<>(inFlight.remove(events, fence)));
        marked.run();
    }

    private void markPublished(Fence fence, List<Sent> events) {
        long begin = settings.ticker().getAsLong();
        int held = fence.markPublished(ids(events));
        int over = over(fence, events).size();
        counters.published.add(over);
        countMarked(over, held, begin);
    }

    private void markFailed(Fence fence, List<Sent> events) {
        Map<Sent, OutboxFailure> failures = new LinkedHashMap<>();
        events.forEach(event -> failures.put(event, failure(event)));
        long begin = settings.ticker().getAsLong();
        int held = fence.markFailed(List.copyOf(failures.values()));
        failures.keySet().retainAll(over(fence, events));
        countMarked(failures.size(), held, begin);
        failures.forEach((event, failure) -> {
            if (failure.dead()) {
                dead(event);
            }
        });
    }

    private void giveBack(Fence fence, List<Sent> events) {
        fence.giveBack(ids(events));
    }

    /** Returns the events for which a statement was the last word: those that have a later right by now are marked again. */
    private static Set<Sent> over(Fence fence, List<Sent> events) {
        return events.stream().filter(event -> event.fence() == fence).collect(Collectors.toSet());
    }

    private void dead(Sent event) {
        counters.dead.increment();
        settings.listener().dead(event.row().event().topic());
        source.dead(event);
        log.warn(
                "Relay {}: event {} for {} is DEAD after {} attempts; it stays in the outbox until somebody requeues or"
                        + " discards it",
                settings.name(),
                event.row().eventId(),
                event.row().event().topic(),
                event.row().attempts() + 1);
    }

    private OutboxFailure failure(Sent event) {
        int attempts = event.row().attempts() + 1;
        // What cannot be read now cannot be read later: waiting would only hold up its key.
        boolean dead =
                attempts >= settings.retry().attempts() || event.row().damage().isPresent();
        Duration wait = settings.retry().waitAfter(attempts);
        long jittered = (long) (wait.toNanos() * (0.8 + settings.random().getAsDouble() * 0.4));
        String error = event.outcome() instanceof PublishOutcome.Failed failed
                ? failed.cause().toString()
                : "";
        return new OutboxFailure(event.row().id(), dead, Duration.ofNanos(jittered), error);
    }

    private void countMarked(int marked, int held, long beginNanos) {
        int rows = marked - held;
        settings.listener()
                .marked(marked, rows, Duration.ofNanos(settings.ticker().getAsLong() - beginNanos));
        if (rows > 0) {
            source.fenced();
            counters.fenced.add(rows);
            log.debug("Relay {}: {} rows were no longer held when they were marked", settings.name(), rows);
        }
    }

    private static List<Sent> select(List<Sent> events, Fate fate) {
        return events.stream().filter(event -> fate(event) == fate).toList();
    }

    private static Fate fate(Sent event) {
        if (event.outcome() instanceof PublishOutcome.Failed failed) {
            return failed.kind() == PublishOutcome.Kind.RECORD ? Fate.FAILED : Fate.GIVEN_BACK;
        }
        return Fate.PUBLISHED;
    }

    private static List<OutboxRowId> ids(List<Sent> events) {
        // Sorted, so that two relays' statements lock in the same order (rule T12).
        return events.stream()
                .map(event -> event.row().id())
                .sorted(Comparator.comparingLong(OutboxRowId::sequence))
                .toList();
    }

    private enum Fate {
        PUBLISHED,
        FAILED,
        GIVEN_BACK
    }

    private interface Statement {
        void run(Fence fence, List<Sent> events);
    }
}
