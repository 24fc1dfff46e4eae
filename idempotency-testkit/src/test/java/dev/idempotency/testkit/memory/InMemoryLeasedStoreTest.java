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
import java.util.Map;

class InMemoryLeasedStoreTest extends LeasedIdempotencyStoreContract {
    final InMemoryDatabase database = InMemoryDatabase.create();

    /** The store under test; tests of the contract put a broken one here. */
    InMemoryIdempotencyStore store = InMemoryIdempotencyStore.of(database);

    @Override
    protected LeasedIdempotencyStore store() {
        return store;
    }

    @Override
    protected LeasedIdempotencyStore storeLosingTheCommit(boolean committed, Runnable meanwhile) {
        return new AnswerLost(store, committed, meanwhile);
    }

    @Override
    protected void passTime(Duration duration) {
        database.passTime(duration);
    }

    @Override
    protected void setClockBack(Duration duration) {
        database.passTime(duration.negated());
    }

    /** A claim whose answer is lost is looked up again by the store itself; of a completion the caller is told. */
    private record AnswerLost(InMemoryIdempotencyStore store, boolean committed, Runnable meanwhile)
            implements LeasedIdempotencyStore {
        @Override
        public ClaimOutcome claim(ClaimRequest request, Duration leaseDuration) {
            Map<Object, InMemoryIdempotencyStore.Entry> before = Map.copyOf(store.entries);
            ClaimOutcome outcome = store.claim(request, leaseDuration);
            if (!(outcome instanceof ClaimOutcome.Acquired acquired)) {
                return outcome;
            }
            if (!committed) {
                store.entries.keySet().retainAll(before.keySet());
                store.entries.putAll(before);
            }
            meanwhile.run();
            return store.claimAgain(request, leaseDuration, acquired.claim());
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
            meanwhile.run();
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
