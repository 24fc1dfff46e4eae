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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store as the engines see it: they speak of keys and answers, the store behind it keeps what a {@link RecordFormat} makes
 * of them. The one place where stored bytes are written and read.
 */
abstract sealed class FormattedStore<S extends IdempotencyStore> implements IdempotencyStore {
    private static final Logger log = LoggerFactory.getLogger(FormattedStore.class);

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
            return store.complete(stored(claim), writtenOrOver(claim, result));
        }

        /** The effect has happened, so an answer that cannot be written does not leave the operation without a record. */
        private RecordedResult writtenOrOver(Claim claim, RecordedResult result) {
            try {
                return written(claim, result);
            } catch (StoreException e) {
                log.warn(
                        "The answer of {} could not be encoded; its operation is recorded as over, and repeats do not get it",
                        claim.request().id(),
                        e);
                int status = result instanceof RecordedResult.Replayable answer ? answer.status() : 0;
                return new RecordedResult.NotReplayable(status, "the answer could not be encoded");
            }
        }

        @Override
        public boolean release(Claim claim) {
            return store.release(stored(claim));
        }
    }
}
