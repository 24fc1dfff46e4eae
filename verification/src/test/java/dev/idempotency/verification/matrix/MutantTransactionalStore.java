package dev.idempotency.verification.matrix;

import dev.idempotency.IdempotencyException;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.Scope;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.spi.TransactionalIdempotencyStore;
import dev.idempotency.transaction.Transaction;
import java.util.Locale;
import java.util.UUID;

/** The real store with the claims or the completions that a mutant wants. */
record MutantTransactionalStore(TransactionalIdempotencyStore store, Mutant mutant)
        implements TransactionalIdempotencyStore {
    private static final String INVENTED = "invented";

    @Override
    public ClaimOutcome claim(Transaction transaction, ClaimRequest request) {
        ClaimOutcome outcome = store.claim(transaction, mutant == Mutant.FOLDED_KEYS ? folded(request) : request);
        boolean invents = (mutant == Mutant.DUPLICATE_RUNS && outcome instanceof ClaimOutcome.Completed)
                || (mutant == Mutant.BUSY_IS_FREE && outcome instanceof ClaimOutcome.InProgress);
        return invents ? new ClaimOutcome.Acquired(new Claim(request, UUID.randomUUID(), 1, 1, INVENTED)) : outcome;
    }

    private static ClaimRequest folded(ClaimRequest request) {
        String key = request.id().key().value().toLowerCase(Locale.ROOT);
        RecordId id = new RecordId(request.id().scope(), IdempotencyKey.of(key));
        return new ClaimRequest(id, request.fingerprint(), request.retention(), request.abandoned());
    }

    @Override
    public void complete(Transaction transaction, Claim claim, RecordedResult result) {
        if (claim.transactionProof().equals(INVENTED)) {
            return;
        }
        try {
            store.complete(transaction, claim, result);
        } catch (IdempotencyException e) {
            if (mutant != Mutant.LAST_STATEMENT_IGNORED) {
                throw e;
            }
        }
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
