package dev.idempotency.testkit.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.OutboxEvent;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.Scope;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.spi.ClaimingOutboxStore;
import dev.idempotency.spi.LeasedIdempotencyStore;
import dev.idempotency.spi.LowWaterMark;
import dev.idempotency.spi.OutboxClaim;
import dev.idempotency.spi.OutboxFailure;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRowId;
import dev.idempotency.spi.PublishedRows;
import dev.idempotency.transaction.TransactionContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class SteppedTest {
    private static final ClaimRequest REQUEST = new ClaimRequest(
            new RecordId(Scope.shared("charge"), IdempotencyKey.of("k")),
            Fingerprint.none(),
            Duration.ofHours(1),
            AbandonedPolicy.REPORT_UNKNOWN);

    private final List<String> passed = new ArrayList<>();

    @Test
    void leased_acquired_passesTheSteps() {
        LeasedIdempotencyStore store = Stepped.leased(new OneClaim(), passed::add);
        ClaimOutcome first = store.claim(REQUEST, Duration.ofSeconds(1));
        assertThat(first).isInstanceOf(ClaimOutcome.Acquired.class);
        assertThat(store.claim(REQUEST, Duration.ofSeconds(1))).isInstanceOf(ClaimOutcome.InProgress.class);
        store.complete(
                ((ClaimOutcome.Acquired) first).claim(), new RecordedResult.Replayable(201, new byte[0], new byte[0]));
        assertThat(passed)
                .containsExactly(
                        "operation.claiming",
                        "operation.claimed",
                        "operation.claiming",
                        "operation.effect-done",
                        "operation.completed");
    }

    @Test
    void outbox_emptyClaim_isNoClaim() {
        ClaimingOutboxStore store = Stepped.outbox(ClaimingOutboxStore.class, new EmptyOutbox(), passed::add);
        store.claim("relay", Duration.ofSeconds(1), new OutboxQuery(0, 10, Set.of()));
        store.markPublished(1, List.of(new OutboxRowId(1, new UUID(0, 1))), PublishedRows.DELETE);
        assertThat(passed).containsExactly("outbox.claiming", "outbox.marking", "outbox.marked");
    }

    @Test
    void outbox_whatTheStoreThrows_passesUnwrapped() {
        ClaimingOutboxStore store = Stepped.outbox(ClaimingOutboxStore.class, new EmptyOutbox(), passed::add);
        assertThatThrownBy(() -> store.returnExpired(1)).isInstanceOf(IllegalStateException.class);
    }

    /** A store of one record that is claimed once. */
    private static final class OneClaim implements LeasedIdempotencyStore {
        private boolean claimed;

        @Override
        public ClaimOutcome claim(ClaimRequest request, Duration leaseDuration) {
            if (claimed) {
                return new ClaimOutcome.InProgress(leaseDuration);
            }
            claimed = true;
            return new ClaimOutcome.Acquired(new Claim(request, new UUID(0, 1), 1, 1, ""));
        }

        @Override
        public boolean extend(Claim claim, Duration leaseDuration) {
            return true;
        }

        @Override
        public boolean complete(Claim claim, RecordedResult result) {
            return true;
        }

        @Override
        public boolean release(Claim claim) {
            return true;
        }

        @Override
        public boolean forget(RecordId id) {
            return false;
        }

        @Override
        public int forgetCaller(Scope caller, int limit) {
            return 0;
        }

        @Override
        public int deleteExpired(int limit) {
            return 0;
        }
    }

    /** An outbox in which nothing is due. */
    private static final class EmptyOutbox implements ClaimingOutboxStore {
        @Override
        public OutboxClaim claim(String owner, Duration leaseDuration, OutboxQuery query) {
            return new OutboxClaim(1, List.of());
        }

        @Override
        public int markPublished(long token, List<OutboxRowId> ids, PublishedRows rows) {
            return 0;
        }

        @Override
        public int markFailed(long token, List<OutboxFailure> failures) {
            return 0;
        }

        @Override
        public int release(long token, List<OutboxRowId> ids) {
            return 0;
        }

        @Override
        public int returnExpired(int limit) {
            throw new IllegalStateException("on purpose");
        }

        @Override
        public Set<UUID> append(TransactionContext transaction, List<OutboxEvent> events) {
            return Set.of();
        }

        @Override
        public LowWaterMark advance(LowWaterMark mark) {
            return mark;
        }

        @Override
        public int deletePublished(Duration age, int limit) {
            return 0;
        }
    }
}
