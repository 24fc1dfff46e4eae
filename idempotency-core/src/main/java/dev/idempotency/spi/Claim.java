package dev.idempotency.spi;

import java.util.Objects;
import java.util.UUID;

/**
 * The right to complete one operation, held by exactly one owner; a store makes it and gets it back unchanged.
 *
 * @param request what was claimed
 * @param claimId what no other claim has, not even one made at the same instant: by it a store knows the claim again
 * @param token the fencing token, for systems that refuse whoever is not the latest: greater than that of every earlier
 *     claim of the same record by the store's clock. The order of claims, and not their identity
 * @param attempt 1 for the first owner, one more for each take-over after an abandoned lease
 * @param transactionProof what the store needs to prove that its last statement runs in the transaction of the claim,
 *     in the store's own encoding; empty where the claim stands in no transaction of the caller
 */
public record Claim(ClaimRequest request, UUID claimId, long token, int attempt, String transactionProof) {
    /** Checks that the parts are present. */
    public Claim {
        Objects.requireNonNull(request, "request");
        Objects.requireNonNull(claimId, "claimId");
        Objects.requireNonNull(transactionProof, "transactionProof");
    }
}
