package dev.idempotency.outbox;

import dev.idempotency.spi.OutboxRow;
import java.util.List;

/**
 * Rows that may be sent now.
 *
 * @param rows in the order in which to send them
 * @param fence the right under which they were taken
 * @param sendUntilNanos the instant of the monotonic clock from which on the right would not outlast a send
 * @param more true if there is reason to look again at once
 * @param nextDueNanos in how many nanoseconds a row that was found waiting becomes due; {@link Long#MAX_VALUE} if none
 */
record Batch(List<OutboxRow> rows, Fence fence, long sendUntilNanos, boolean more, long nextDueNanos) {}
