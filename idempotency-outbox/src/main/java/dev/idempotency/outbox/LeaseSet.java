package dev.idempotency.outbox;

import dev.idempotency.spi.BucketLease;
import dev.idempotency.spi.LeasedOutboxStore;
import dev.idempotency.spi.OutboxFailure;
import dev.idempotency.spi.OutboxRowId;
import dev.idempotency.spi.PublishedRows;
import java.util.List;

/** The leases a relay holds at one time, which fence what it reads under them; renewed, they stay the same set. */
final class LeaseSet implements Fence {
    private final LeasedOutboxStore store;
    private final String owner;
    private final PublishedRows rows;
    private final List<BucketLease> leases;

    LeaseSet(LeasedOutboxStore store, String owner, PublishedRows rows, List<BucketLease> leases) {
        this.store = store;
        this.owner = owner;
        this.rows = rows;
        this.leases = List.copyOf(leases);
    }

    List<BucketLease> leases() {
        return leases;
    }

    @Override
    public int markPublished(List<OutboxRowId> ids) {
        return store.markPublished(owner, leases, ids, rows);
    }

    @Override
    public int markFailed(List<OutboxFailure> failures) {
        return store.markFailed(owner, leases, failures);
    }

    /** Nothing was written when the rows were read, so there is nothing to take back. */
    @Override
    public void giveBack(List<OutboxRowId> ids) {}
}
