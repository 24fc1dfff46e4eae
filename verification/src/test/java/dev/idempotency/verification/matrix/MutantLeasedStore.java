package dev.idempotency.verification.matrix;

import dev.idempotency.IdempotencyException;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.Scope;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.spi.LeasedIdempotencyStore;
import java.time.Duration;

/** The real store with the claims or the completions that a mutant wants. */
record MutantLeasedStore(LeasedIdempotencyStore store, Site site, Mutant mutant) implements LeasedIdempotencyStore {
    @Override
    public ClaimOutcome claim(ClaimRequest request, Duration leaseDuration) {
        ClaimOutcome outcome = store.claim(request, leaseDuration);
        if (mutant == Mutant.FAST_CLOCK && outcome instanceof ClaimOutcome.InProgress) {
            Sql.update(
                    site.outside(),
                    "UPDATE idempotency_record SET lease_until = now() - interval '1 second' WHERE idempotency_key = ?",
                    request.id().key().value());
            return store.claim(request, leaseDuration);
        }
        return outcome;
    }

    @Override
    public boolean extend(Claim claim, Duration leaseDuration) {
        return store.extend(claim, leaseDuration);
    }

    @Override
    public boolean complete(Claim claim, RecordedResult result) {
        try {
            return store.complete(claim, result) || mutant == Mutant.COMPLETION_UNFENCED;
        } catch (IdempotencyException e) {
            if (mutant == Mutant.RELEASED_AFTER_EFFECT) {
                store.release(claim);
            }
            throw e;
        }
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
