package dev.idempotency.event;

import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.PartitionAssignment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The state of one call of {@link EventProcessor#process}: what is still to be done, one transaction's worth after the
 * other, and what has come of the rest. It splits what failed until the event at fault stands alone.
 */
final class Batch<E> {
    private final Map<EventPartition, @Nullable Long> from = new HashMap<>();
    private final Map<EventPartition, Long> progress = new LinkedHashMap<>();
    private final Set<EventPartition> blocked = new LinkedHashSet<>();
    private final List<ProcessingFailure<E>> failures = new ArrayList<>();
    private final Deque<List<Item<E>>> work = new ArrayDeque<>();
    private int handled;
    private int duplicates;

    /**
     * Lays the deliveries out.
     *
     * @param together false if each event is to have a transaction of its own
     */
    Batch(Collection<PartitionDeliveries<E>> deliveries, boolean together) {
        List<Item<E>> shared = new ArrayList<>();
        List<Item<E>> alone = new ArrayList<>();
        for (PartitionDeliveries<E> part : deliveries) {
            PartitionAssignment assignment = part.assignment();
            if (from.containsKey(assignment.partition())) {
                throw new IllegalArgumentException("Two entries for " + assignment.partition());
            }
            from.put(assignment.partition(), assignment.nextOffset());
            addItems(part, together && !assignment.suspect() ? shared : alone);
        }
        if (!shared.isEmpty()) {
            work.add(shared);
        }
        // Behind the others, because one of them may end this process.
        alone.forEach(item -> work.add(List.of(item)));
    }

    private static <E> void addItems(PartitionDeliveries<E> part, List<Item<E>> items) {
        List<Delivery<E>> deliveries = part.deliveries();
        for (int i = 0; i < deliveries.size(); i++) {
            boolean isLast = i == deliveries.size() - 1;
            long next = isLast ? part.end() : deliveries.get(i + 1).offset();
            items.add(new Item<>(part.assignment(), deliveries.get(i), next));
        }
    }

    /** Returns the events for one transaction; empty when nothing is left that can be tried. */
    List<Item<E>> next() {
        while (!work.isEmpty()) {
            List<Item<E>> segment = work.pop().stream()
                    .filter(item -> !blocked.contains(item.partition()))
                    .toList();
            if (!segment.isEmpty()) {
                return segment;
            }
        }
        return List.of();
    }

    /** From where each partition is advanced now. */
    Map<EventPartition, @Nullable Long> from() {
        return from;
    }

    void settle(List<Item<E>> segment, Attempt<E> attempt) {
        if (attempt instanceof Attempt.Committed<E> committed) {
            handled += committed.handled();
            duplicates += committed.duplicates();
            for (Item<E> item : segment) {
                progress.put(item.partition(), item.next());
                from.put(item.partition(), item.next());
            }
        } else if (attempt instanceof Attempt.Failed<E> failed) {
            settleFailed(segment, failed);
        } else if (attempt instanceof Attempt.Ended<E> end) {
            settleEnded(segment, end.failure());
        }
    }

    /** What failed alone is reported; anything else is split, the earlier part first. */
    private void settleFailed(List<Item<E>> segment, Attempt.Failed<E> failed) {
        if (segment.size() == 1) {
            Item<E> item = segment.get(0);
            failures.add(
                    failed.connectionLost()
                            ? new ProcessingFailure.ConnectionLost<>(
                                    item.partition(), item.delivery(), item.next(), failed.cause())
                            : new ProcessingFailure.HandlerFailed<>(
                                    item.partition(), item.delivery(), item.next(), failed.cause()));
            blocked.add(item.partition());
        } else if (failed.index() >= 0) {
            work.push(segment.subList(failed.index() + 1, segment.size()));
            work.push(segment.subList(failed.index(), failed.index() + 1));
            work.push(segment.subList(0, failed.index()));
        } else {
            int middle = segment.size() / 2;
            work.push(segment.subList(middle, segment.size()));
            work.push(segment.subList(0, middle));
        }
    }

    private void settleEnded(List<Item<E>> segment, ProcessingFailure<E> failure) {
        failures.add(failure);
        if (failure instanceof ProcessingFailure.Fenced<E> fenced) {
            blocked.addAll(fenced.partitions());
            work.push(segment);
        } else if (failure instanceof ProcessingFailure.StartedTooOften<E> started) {
            blocked.add(started.partition());
        } else {
            work.clear();
        }
    }

    ProcessingResult<E> result() {
        return new ProcessingResult<>(progress, handled, duplicates, failures);
    }
}
