package dev.idempotency.outbox;

import dev.idempotency.spi.OutboxFailure;
import dev.idempotency.spi.OutboxRowId;
import java.util.List;

/**
 * The right under which rows were taken, and the only way to write to them; a row whose right was lost meanwhile is
 * passed over. Marks may be repeated after an exception. Thread-safe.
 */
interface Fence {
    /** Marks rows as published and returns how many were still held. */
    int markPublished(List<OutboxRowId> ids);

    /** Counts a failed attempt of each row and returns how many were still held. */
    int markFailed(List<OutboxFailure> failures);

    /** Gives rows back as they were. */
    void giveBack(List<OutboxRowId> ids);
}
