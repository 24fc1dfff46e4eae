package dev.idempotency.spi;

import dev.idempotency.EventId;
import java.util.Objects;
import java.util.Set;

/**
 * What marking events found; a store makes it and gets it back for the last statement.
 *
 * @param fresh the events that were not marked before and are now: their handlers, and no others, may run
 * @param transactionProof what the store needs to prove that its last statement runs in the transaction of the marks, in
 *     the store's own encoding; empty in a transaction of the caller's
 */
public record Marks(Set<EventId> fresh, String transactionProof) {
    /** Copies the set. */
    public Marks {
        fresh = Set.copyOf(fresh);
        Objects.requireNonNull(transactionProof, "transactionProof");
    }
}
