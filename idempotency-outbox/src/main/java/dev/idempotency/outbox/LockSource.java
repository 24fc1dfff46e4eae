package dev.idempotency.outbox;

import dev.idempotency.spi.LockingOutboxStore;
import dev.idempotency.spi.OutboxFailure;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.OutboxRowId;
import dev.idempotency.spi.PublishedRows;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * Locks rows in one transaction, has them sent, waits for the answers, and writes the marks in the same transaction: a
 * crash, or whatever else ends the transaction, leaves the rows as they were.
 */
final class LockSource extends UnorderedSource {
    /** How long rows of one transaction are handed over; the rest is freed by its commit. */
    private static final Duration SENDING = Duration.ofSeconds(2);

    private final LockingOutboxStore store;
    private final TransactionRunner runner;
    private final TransactionLimits limits;
    private final long answeredWithinNanos;

    LockSource(
            LockingOutboxStore store,
            TransactionRunner runner,
            RelaySettings settings,
            EventsInFlight inFlight,
            Duration deliveryTimeout) {
        super(store, settings, inFlight);
        this.store = store;
        this.runner = runner;
        this.answeredWithinNanos = SENDING.plus(deliveryTimeout).toNanos();
        // Between the lock and the marks there is no statement: the server must bear that, and no more than that.
        this.limits = TransactionLimits.ofDefaults()
                .withIdle(SENDING.plus(deliveryTimeout).plus(RelayBuilder.MARGIN));
    }

    @Override
    public Pass relay(int limit, Set<String> withoutTopics, Sender sender) {
        OutboxQuery query = query(limit, withoutTopics);
        return runner.run(limits, transaction -> relay(transaction, query, sender));
    }

    private Pass relay(Transaction transaction, OutboxQuery query, Sender sender) {
        long begin = settings.ticker().getAsLong();
        List<OutboxRow> rows = store.lock(transaction, query);
        seen(rows, begin);
        if (rows.isEmpty()) {
            return new Pass(false, false, Long.MAX_VALUE);
        }
        Fence fence = new LockFence(store, transaction, settings.publishedRows());
        Batch batch = new Batch(rows, fence, begin + SENDING.toNanos(), false, Long.MAX_VALUE);
        try {
            boolean sent = sender.send(batch);
            sender.settle(fence, begin + answeredWithinNanos);
            // If nothing could be sent, the same rows would be locked again at once.
            return new Pass(sent, false, Long.MAX_VALUE);
        } finally {
            // Whatever is not marked by now never will be: this transaction ends.
            inFlight.forget(fence);
        }
    }

    @Override
    public boolean marksBeside() {
        return false;
    }

    /** The end of the transaction frees them. */
    @Override
    public void giveBack(Batch batch, List<OutboxRow> unsent) {}

    /** The transaction that holds the locks; used by its own thread. */
    private record LockFence(LockingOutboxStore store, Transaction transaction, PublishedRows rows) implements Fence {
        @Override
        public int markPublished(List<OutboxRowId> ids) {
            return store.markPublished(transaction, ids, rows);
        }

        @Override
        public int markFailed(List<OutboxFailure> failures) {
            return store.markFailed(transaction, failures);
        }

        @Override
        public void giveBack(List<OutboxRowId> ids) {}
    }
}
