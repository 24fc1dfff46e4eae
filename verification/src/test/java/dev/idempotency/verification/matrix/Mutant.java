package dev.idempotency.verification.matrix;

import dev.idempotency.spi.LeasedIdempotencyStore;
import dev.idempotency.spi.TransactionalIdempotencyStore;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import java.time.Duration;

/**
 * A rule taken away on the real parts, by what is put around them or in their place; the product has no switch for it.
 *
 * <p>Each is bound to the case that must find it, see {@link RuleCasesIT}.
 */
enum Mutant {
    NONE("", "all rules are in force"),
    EFFECT_ELSEWHERE("T1", "the work writes on a second data source"),
    LAST_STATEMENT_IGNORED(
            "T2", "the work swallows an error, and neither the last statement nor the commit is looked at"),
    COMMIT_IGNORED("T3", "the client is answered whether or not the commit has happened"),
    DUPLICATE_RUNS("T4", "a record that is there is taken for unreadable, and the work runs"),
    COMPLETION_UNFENCED("T5", "the row count of a completion is not looked at"),
    UNKNOWN_IS_FAILED("T6", "a commit without an answer is taken for failed, and its record is removed"),
    RELEASED_AFTER_EFFECT("T7", "a completion that failed gives the claim back"),
    FAST_CLOCK("T8", "a lease is judged by the instance's clock, which is fast"),
    UNBOUNDED("T9", "no wait has a bound"),
    BUSY_IS_FREE("T10", "a claim that finds another one under way counts as acquired"),
    FOLDED_KEYS("T11", "keys are compared without regard to case"),
    UNSORTED("T12", "marks are written in the order of delivery");

    private final String rule;
    private final String text;

    Mutant(String rule, String text) {
        this.rule = rule;
        this.text = text;
    }

    String rule() {
        return rule;
    }

    String text() {
        return text;
    }

    TransactionalIdempotencyStore transactional(TransactionalIdempotencyStore store) {
        return switch (this) {
            case LAST_STATEMENT_IGNORED, DUPLICATE_RUNS, BUSY_IS_FREE, FOLDED_KEYS ->
                new MutantTransactionalStore(store, this);
            default -> store;
        };
    }

    LeasedIdempotencyStore leased(LeasedIdempotencyStore store, Site site) {
        return switch (this) {
            case COMPLETION_UNFENCED, RELEASED_AFTER_EFFECT, FAST_CLOCK -> new MutantLeasedStore(store, site, this);
            default -> store;
        };
    }

    TransactionRunner runner(TransactionRunner runner, Site site) {
        return switch (this) {
            case LAST_STATEMENT_IGNORED -> new CarelessRunner(site.dataSource());
            case COMMIT_IGNORED, UNKNOWN_IS_FAILED -> new MutantRunner(runner, site, this);
            default -> runner;
        };
    }

    TransactionLimits limits(TransactionLimits limits) {
        Duration endless = Duration.ofHours(24);
        return this == UNBOUNDED ? new TransactionLimits(endless, endless, endless) : limits;
    }

    boolean writesElsewhere() {
        return this == EFFECT_ELSEWHERE;
    }
}
