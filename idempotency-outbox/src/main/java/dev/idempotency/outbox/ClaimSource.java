package dev.idempotency.outbox;

import dev.idempotency.spi.ClaimingOutboxStore;
import dev.idempotency.spi.OutboxClaim;
import dev.idempotency.spi.OutboxFailure;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.OutboxRowId;
import dev.idempotency.spi.PublishedRows;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Claims rows one by one: PENDING to PUBLISHING, under a token per claim. */
final class ClaimSource extends UnorderedSource {
    private final ClaimingOutboxStore store;

    ClaimSource(ClaimingOutboxStore store, RelaySettings settings, EventsInFlight inFlight) {
        super(store, settings, inFlight);
        this.store = store;
    }

    @Override
    public Pass relay(int limit, Set<String> withoutTopics, Sender sender) {
        return Pass.of(next(limit, withoutTopics), sender);
    }

    @Override
    public boolean marksBeside() {
        return true;
    }

    private Batch next(int limit, Set<String> withoutTopics) {
        OutboxQuery query = query(limit, withoutTopics);
        // From before the claim, so that this relay never believes to hold a row for longer than the database does.
        long begin = settings.ticker().getAsLong();
        OutboxClaim claim = store.claim(settings.owner(), settings.leaseDuration(), query);
        seen(claim.rows(), begin);
        Fence fence = new TokenFence(store, claim.token(), settings.publishedRows());
        List<OutboxRow> fresh = new ArrayList<>(claim.rows().size());
        for (OutboxRow row : claim.rows()) {
            // Claimed by us before, its mark still to come: it need not be sent twice, but the earlier token is void.
            if (!inFlight.adopt(row.id(), fence)) {
                fresh.add(row);
            }
        }
        long sendUntil = begin + settings.leaseDuration().toNanos() - settings.sendTimeNanos();
        return new Batch(fresh, fence, sendUntil, Pages.isFull(claim.rows(), query), Long.MAX_VALUE);
    }

    @Override
    public void giveBack(Batch batch, List<OutboxRow> unsent) {
        batch.fence().giveBack(unsent.stream().map(OutboxRow::id).toList());
    }

    /** One claim's token. */
    private record TokenFence(ClaimingOutboxStore store, long token, PublishedRows rows) implements Fence {
        @Override
        public int markPublished(List<OutboxRowId> ids) {
            return store.markPublished(token, ids, rows);
        }

        @Override
        public int markFailed(List<OutboxFailure> failures) {
            return store.markFailed(token, failures);
        }

        @Override
        public void giveBack(List<OutboxRowId> ids) {
            store.release(token, ids);
        }
    }
}
