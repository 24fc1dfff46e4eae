package dev.idempotency;

import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.spi.IdempotencyStore;
import dev.idempotency.spi.LeasedIdempotencyStore;
import dev.idempotency.spi.TransactionalIdempotencyStore;
import dev.idempotency.transaction.Transaction;
import java.time.Duration;
import java.util.Objects;

/**
 * A store as the engines see it: they speak of keys and answers, the store behind it keeps what a {@link RecordFormat} makes
 * of them. The one place where stored bytes are written and read.
 */
abstract sealed class FormattedStore<S extends IdempotencyStore> implements IdempotencyStore {
    final S store;
    final RecordFormat format;

    private FormattedStore(S store, RecordFormat format) {
        this.store = Objects.requireNonNull(store, "store");
        this.format = Objects.requireNonNull(format, "format");
    }

    final ClaimRequest stored(ClaimRequest request) {
        return new ClaimRequest(
                format.stored(request.id()), request.fingerprint(), request.retention(), request.abandoned());
    }

    final Claim stored(Claim claim) {
        return with(claim, stored(claim.request()));
    }

    private static Claim with(Claim claim, ClaimRequest request) {
        return new Claim(request, claim.claimId(), claim.token(), claim.attempt(), claim.transactionProof());
    }

    final ClaimOutcome read(ClaimRequest request, ClaimOutcome outcome) {
        if (outcome instanceof ClaimOutcome.Acquired acquired) {
            return new ClaimOutcome.Acquired(with(acquired.claim(), request));
        }
        return outcome instanceof ClaimOutcome.Completed completed
                ? new ClaimOutcome.Completed(format.read(request.id(), completed.result()))
                : outcome;
    }

    final RecordedResult written(Claim claim, RecordedResult result) {
        return format.write(claim.request().id(), result);
    }

    @Override
    public final boolean forget(RecordId id) {
        return store.forget(format.stored(id));
    }

    @Override
    public final int forgetCaller(Scope caller, int limit) {
        return store.forgetCaller(caller, limit);
    }

    @Override
    public final int deleteExpired(int limit) {
        return store.deleteExpired(limit);
    }

    /** For {@link Protection#TRANSACTIONAL}. */
    static final class Transactional extends FormattedStore<TransactionalIdempotencyStore>
            implements TransactionalIdempotencyStore {
        Transactional(TransactionalIdempotencyStore store, RecordFormat format) {
            super(store, format);
        }

        @Override
        public ClaimOutcome claim(Transaction transaction, ClaimRequest request) {
            return read(request, store.claim(transaction, stored(request)));
        }

        @Override
        public void complete(Transaction transaction, Claim claim, RecordedResult result) {
            store.complete(transaction, stored(claim), written(claim, result));
        }
    }

    /** For {@link Protection#LEASED}. */
    static final class Leased extends FormattedStore<LeasedIdempotencyStore> implements LeasedIdempotencyStore {
        Leased(LeasedIdempotencyStore store, RecordFormat format) {
            super(store, format);
        }

        @Override
        public ClaimOutcome claim(ClaimRequest request, Duration leaseDuration) {
            return read(request, store.claim(stored(request), leaseDuration));
        }

        @Override
        public boolean extend(Claim claim, Duration leaseDuration) {
            return store.extend(stored(claim), leaseDuration);
        }

        @Override
        public boolean complete(Claim claim, RecordedResult result) {
            return store.complete(stored(claim), written(claim, result));
        }

        @Override
        public boolean release(Claim claim) {
            return store.release(stored(claim));
        }
    }
}
