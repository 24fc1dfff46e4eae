package dev.idempotency.spi;

/** What a claim does with a leased record whose owner let the lease end without completing. */
public enum AbandonedPolicy {
    /** Answer {@link ClaimOutcome.Abandoned}: whether the effect happened is unknown, and only people can tell. */
    REPORT_UNKNOWN,
    /** Take the claim over and run the work again: right where the work is itself safe to repeat. */
    RUN_AGAIN
}
