package dev.idempotency.event;

import dev.idempotency.spi.EventPartition;
import java.util.List;
import java.util.Map;

/**
 * What became of deliveries; all of it is committed.
 *
 * @param <E> the type of event
 * @param progress the next offset of each partition that has advanced
 * @param handled how many events were handled
 * @param duplicates how many had been processed before, or stood in the same batch twice
 * @param failures what was not processed, and why; empty if everything was, or if processing was asked to stop
 */
public record ProcessingResult<E>(
        Map<EventPartition, Long> progress, int handled, int duplicates, List<ProcessingFailure<E>> failures) {
    /** Copies map and list. */
    public ProcessingResult {
        progress = Map.copyOf(progress);
        failures = List.copyOf(failures);
    }
}
