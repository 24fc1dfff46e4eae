package dev.idempotency.spi;

import java.util.List;

/**
 * The rows that one claim took, with the token that fences every later mark of them.
 *
 * @param token unique to this claim
 * @param rows the rows, in the order of their sequence numbers; empty if there was nothing to claim
 */
public record OutboxClaim(long token, List<OutboxRow> rows) {
    /** Copies the rows. */
    public OutboxClaim {
        rows = List.copyOf(rows);
    }
}
