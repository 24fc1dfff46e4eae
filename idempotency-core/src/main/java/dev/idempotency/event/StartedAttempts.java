package dev.idempotency.event;

import dev.idempotency.ConsumerId;
import dev.idempotency.IdempotencyException;
import dev.idempotency.StoreConflictException;
import dev.idempotency.spi.StartedAttemptStore;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts the attempts that were begun at a suspect event and of which no process has told the outcome. */
record StartedAttempts(StartedAttemptStore store, ConsumerId consumer, int maxStarts) {
    private static final Logger log = LoggerFactory.getLogger(StartedAttempts.class);

    /** Writes down that the event is begun; returns why it must not be, or null. */
    <E> @Nullable Attempt<E> begin(Item<E> item) {
        try {
            OptionalInt starts =
                    store.start(consumer, item.assignment(), item.delivery().offset());
            if (starts.isEmpty()) {
                return new Attempt.Ended<>(new ProcessingFailure.Fenced<>(Set.of(item.partition())));
            }
            return starts.getAsInt() <= maxStarts
                    ? null
                    : new Attempt.Ended<>(new ProcessingFailure.StartedTooOften<>(
                            item.partition(), item.delivery(), item.next(), starts.getAsInt() - 1));
        } catch (StoreConflictException e) {
            return new Attempt.Ended<>(new ProcessingFailure.Contended<>(e));
        } catch (IdempotencyException e) {
            return new Attempt.Ended<>(new ProcessingFailure.Unavailable<>(e));
        }
    }

    /**
     * Writes down that this process has survived the event, however the attempt ended; an advance says it by itself. Were
     * it left out after an outage, each rebalance during the outage would count as one more process ended by the event.
     */
    <E> void end(Item<E> item, Attempt<E> attempt) {
        if (attempt instanceof Attempt.Committed<E>) {
            return;
        }
        try {
            store.settle(consumer, item.assignment(), item.delivery().offset());
        } catch (IdempotencyException e) {
            // Counts as one start too many, of which several are forgiven.
            log.debug(
                    "The outcome of an attempt at {} could not be written",
                    item.delivery().id(),
                    e);
        }
    }
}
