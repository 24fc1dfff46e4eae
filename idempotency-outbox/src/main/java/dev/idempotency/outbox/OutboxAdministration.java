package dev.idempotency.outbox;

import dev.idempotency.spi.ManagedOutboxStore;
import dev.idempotency.spi.OutboxBacklog;
import dev.idempotency.spi.OutboxEntry;
import dev.idempotency.spi.OutboxFilter;
import java.util.List;
import java.util.Objects;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What operators do with an outbox by hand; applications call it from their consoles and endpoints.
 *
 * <pre>{@code
 * OutboxAdministration administration = OutboxAdministration.of(store);
 * administration.find(OutboxEntry.Status.DEAD, OutboxFilter.all(), 100);
 * administration.requeue(OutboxFilter.ofTopics("orders"));
 * }</pre>
 *
 * <p>What changes many rows does so in batches, each in a short transaction of its own: if it fails midway, what was done
 * stays done, and calling it again does the rest. Everything that it changes is logged. Safe for use by many threads.
 */
public final class OutboxAdministration {
    private static final Logger log = LoggerFactory.getLogger(OutboxAdministration.class);

    private static final int BATCH = 1_000;

    private final ManagedOutboxStore store;

    private OutboxAdministration(ManagedOutboxStore store) {
        this.store = Objects.requireNonNull(store, "store");
    }

    /**
     * Returns the administration of an outbox.
     *
     * @param store the outbox
     * @return the administration
     */
    public static OutboxAdministration of(ManagedOutboxStore store) {
        return new OutboxAdministration(store);
    }

    /**
     * Tells how much there is to do, cheap enough for a metric: no row is counted.
     *
     * @return the backlog now
     */
    public OutboxBacklog backlog() {
        return store.backlog();
    }

    /**
     * Finds rows, the oldest first.
     *
     * @param status their state
     * @param filter which of them
     * @param limit the most rows to return, 1 to 10,000
     * @return the rows, without their content
     * @throws IllegalArgumentException if the limit is out of range
     */
    public List<OutboxEntry> find(OutboxEntry.Status status, OutboxFilter filter, int limit) {
        if (limit < 1 || limit > ManagedOutboxStore.LARGEST_LIMIT) {
            throw new IllegalArgumentException("The limit must be between 1 and 10,000, but is " + limit);
        }
        return store.find(status, filter, limit);
    }

    /**
     * Makes DEAD events PENDING again, with no attempt counted; they keep their order among themselves.
     *
     * @param filter which of them
     * @return how many were changed
     */
    public long requeue(OutboxFilter filter) {
        return inBatches("requeued", () -> store.requeue(filter, BATCH));
    }

    /**
     * Gives PENDING events up: they become DEAD and can be requeued, and their keys go on. One that is on its way at this
     * moment may be published all the same.
     *
     * @param filter which of them
     * @param reason why, for whoever finds them later
     * @return how many were changed
     */
    public long skip(OutboxFilter filter, String reason) {
        Objects.requireNonNull(reason, "reason");
        return inBatches("skipped", () -> store.skip(filter, reason, BATCH));
    }

    /**
     * Deletes DEAD events for good.
     *
     * @param filter which of them
     * @return how many were deleted
     */
    public long discard(OutboxFilter filter) {
        return inBatches("discarded", () -> store.discard(filter, BATCH));
    }

    /**
     * Returns what a relay has claimed to PENDING, for a relay that is known to be gone. The relay's name in the rows is
     * {@link OutboxEntry#owner()}.
     *
     * @param owner the relay
     * @return how many were returned
     */
    public long releaseClaims(String owner) {
        Objects.requireNonNull(owner, "owner");
        return inBatches("taken from the relay " + owner, () -> store.releaseClaims(owner, BATCH));
    }

    private static long inBatches(String what, IntSupplier batch) {
        long total = 0;
        int rows;
        do {
            rows = batch.getAsInt();
            total += rows;
        } while (rows == BATCH);
        log.info("Outbox: {} rows were {} by hand", total, what);
        return total;
    }
}
