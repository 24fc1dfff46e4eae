package dev.idempotency.testkit.memory;

import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.Scope;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.spi.LeasedIdempotencyStore;
import dev.idempotency.testkit.LeasedIdempotencyStoreContract;
import dev.idempotency.transaction.OutcomeUnknownException;
import java.time.Duration;

class InMemoryLeasedStoreTest extends LeasedIdempotencyStoreContract {
    final InMemoryDatabase database = InMemoryDatabase.create();

    /** The store under test; tests of the contract put a broken one here. */
    LeasedIdempotencyStore store = InMemoryIdempotencyStore.of(database);

    @Override
    protected LeasedIdempotencyStore store() {
        return store;
    }

    @Override
    protected LeasedIdempotencyStore storeLosingTheCommit(boolean committed) {
        return new AnswerLost(store, committed);
    }

    @Override
    protected void passTime(Duration duration) {
        database.passTime(duration);
    }

    /** A claim whose answer is lost is looked up again by the store itself; of a completion the caller is told. */
    private record AnswerLost(LeasedIdempotencyStore store, boolean committed) implements LeasedIdempotencyStore {
        @Override
        public ClaimOutcome claim(ClaimRequest request, Duration leaseDuration) {
            return store.claim(request, leaseDuration);
        }

        @Override
        public boolean extend(Claim claim, Duration leaseDuration) {
            return store.extend(claim, leaseDuration);
        }

        @Override
        public boolean complete(Claim claim, RecordedResult result) {
            if (committed) {
                store.complete(claim, result);
            }
            throw new OutcomeUnknownException("The answer was lost", new IllegalStateException("Injected by the test"));
        }

        @Override
        public boolean release(Claim claim) {
            return store.release(claim);
        }

        @Override
        public boolean forget(RecordId id) {
            return store.forget(id);
        }

        @Override
        public int forgetCaller(Scope caller, int limit) {
            return store.forgetCaller(caller, limit);
        }

        @Override
        public int deleteExpired(int limit) {
            return store.deleteExpired(limit);
        }
    }
}
