package dev.idempotency.spi;

import java.util.Objects;

/**
 * The right to complete one operation, held by exactly one owner; a store makes it and gets it back unchanged.
 *
 * @param request what was claimed
 * @param token the fencing token: unique to this claim, and greater than that of every earlier claim of the same record
 *     by the store's clock
 * @param attempt 1 for the first owner, one more for each take-over after an abandoned lease
 * @param transactionProof what the store needs to prove that its last statement runs in the transaction of the claim,
 *     in the store's own encoding; empty where the claim stands in no transaction of the caller
 */
public record Claim(ClaimRequest request, long token, int attempt, String transactionProof) {
    /** Checks that the parts are present. */
    public Claim {
        Objects.requireNonNull(request, "request");
        Objects.requireNonNull(transactionProof, "transactionProof");
    }
}
