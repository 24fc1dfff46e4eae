package dev.idempotency.outbox;

import dev.idempotency.spi.ClaimingOutboxStore;
import dev.idempotency.spi.OutboxClaim;
import dev.idempotency.spi.OutboxFailure;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.PublishedRows;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Claims rows one by one: PENDING to PUBLISHING, under a token per claim. */
final class ClaimSource implements EventSource {
    private final ClaimingOutboxStore store;
    private final RelaySettings settings;
    private final EventsInFlight inFlight;
    private final WaterGauge gauge;

    ClaimSource(ClaimingOutboxStore store, RelaySettings settings, EventsInFlight inFlight) {
        this.store = store;
        this.settings = settings;
        this.inFlight = inFlight;
        this.gauge = new WaterGauge(store, settings.ticker());
    }

    @Override
    public void start() {}

    @Override
    public Pass relay(int limit, Set<String> withoutTopics, Sender sender) {
        return Pass.of(next(limit, withoutTopics), sender);
    }

    @Override
    public boolean marksBeside() {
        return true;
    }

    private Batch next(int limit, Set<String> withoutTopics) {
        OutboxQuery query = new OutboxQuery(gauge.begin(), limit, inFlight.roomBytes(), withoutTopics);
        // From before the claim, so that this relay never believes to hold a row for longer than the database does.
        long begin = settings.ticker().getAsLong();
        inFlight.readBegins();
        OutboxClaim claim = store.claim(settings.owner(), settings.leaseDuration(), query);
        gauge.rowsSeen(claim.rows());
        settings.listener()
                .read(claim.rows().size(), Duration.ofNanos(settings.ticker().getAsLong() - begin));
        Fence fence = new TokenFence(store, claim.token(), settings.publishedRows());
        List<OutboxRow> fresh = new ArrayList<>(claim.rows().size());
        for (OutboxRow row : claim.rows()) {
            // Claimed by us before, its mark still to come: it need not be sent twice, but the earlier token is void.
            if (!inFlight.adopt(row.sequence(), fence)) {
                fresh.add(row);
            }
        }
        long sendUntil = begin + settings.leaseDuration().toNanos() - settings.sendTimeNanos();
        return new Batch(fresh, fence, sendUntil, Pages.isFull(claim.rows(), query), Long.MAX_VALUE);
    }

    @Override
    public void giveBack(Batch batch, List<OutboxRow> unsent) {
        batch.fence().giveBack(unsent.stream().map(OutboxRow::sequence).toList());
    }

    @Override
    public boolean isInForce(Batch batch) {
        return true;
    }

    @Override
    public boolean maySend(OutboxRow row) {
        return true;
    }

    @Override
    public void failed(Sent event) {}

    @Override
    public void dead(Sent event) {}

    /** Rows that were lost here are in somebody else's claim, so they do not come back. */
    @Override
    public void fenced() {}

    @Override
    public void reset() {
        gauge.reset();
    }

    @Override
    public void stop(Duration timeout) {}

    /** One claim's token. */
    private record TokenFence(ClaimingOutboxStore store, long token, PublishedRows rows) implements Fence {
        @Override
        public int markPublished(List<Long> sequences) {
            return store.markPublished(token, sequences, rows);
        }

        @Override
        public int markFailed(List<OutboxFailure> failures) {
            return store.markFailed(token, failures);
        }

        @Override
        public void giveBack(List<Long> sequences) {
            store.release(token, sequences);
        }
    }
}
