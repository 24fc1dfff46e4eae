package dev.idempotency.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.idempotency.ClaimLostException;
import dev.idempotency.IdempotencyException;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.StoreConflictException;
import dev.idempotency.TransactionLostException;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.spi.TransactionalIdempotencyStore;
import dev.idempotency.transaction.CommitFailedException;
import dev.idempotency.transaction.OutcomeUnknownException;
import dev.idempotency.transaction.RolledBackException;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import dev.idempotency.transaction.TransactionWork;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What every {@link TransactionalIdempotencyStore} must do; a store's test inherits it and says how to reach the store.
 *
 * <p>Effects are the contract's stand-in for business rows: the test adds one in the transaction of the work and counts
 * them from outside. The exceptions a losing transaction may end with are those of the SPI; whatever it ends with, it
 * must have left nothing.
 */
public abstract class TransactionalIdempotencyStoreContract extends IdempotencyStoreContract {
    private static final Logger log = LoggerFactory.getLogger(TransactionalIdempotencyStoreContract.class);

    private static final TransactionLimits LIMITS = TransactionLimits.ofDefaults();

    /** For subclasses. */
    protected TransactionalIdempotencyStoreContract() {}

    @Override
    protected abstract TransactionalIdempotencyStore store();

    /**
     * Returns a runner of transactions in the store's database, the same one throughout a test.
     *
     * @return the runner
     */
    protected abstract TransactionRunner runner();

    /**
     * Returns a runner whose next commit is followed by the loss of its answer.
     *
     * @param committed whether the commit arrives and is carried out; if not, it never arrives
     * @return a runner in the store's database, to be used once
     */
    protected abstract TransactionRunner runnerLosingTheCommit(boolean committed);

    /**
     * Writes a business row in the transaction, or in a store without rows registers a change for its commit.
     *
     * @param transaction the transaction of the work
     * @param name what to write
     */
    protected abstract void addEffect(Transaction transaction, String name);

    /**
     * Counts the business rows that have been committed.
     *
     * @param name which
     * @return how many there are
     */
    protected abstract int countEffects(String name);

    /**
     * Does to the transaction what the death of its process would do: its connection is cut, the server rolls back.
     *
     * @param transaction the transaction of the work
     */
    protected abstract void crash(Transaction transaction);

    @Override
    final ClaimOutcome probe(ClaimRequest request) {
        return inTransaction(transaction -> {
            transaction.setRollbackOnly();
            return store().claim(transaction, request);
        });
    }

    @Override
    final Claim record(ClaimRequest request, RecordedResult result) {
        return inTransaction(transaction -> {
            Claim claim = acquired(store().claim(transaction, request));
            store().complete(transaction, claim, result);
            return claim;
        });
    }

    private <T> T inTransaction(TransactionWork<T, RuntimeException> work) {
        return runner().run(LIMITS, work);
    }

    /** One attempt at an operation as an engine makes it. Returns what the caller is told, or null for "came to nothing". */
    private ClaimOutcome attempt(TransactionRunner runner, ClaimRequest request, String answer) {
        return runner.run(LIMITS, transaction -> {
            ClaimOutcome outcome = store().claim(transaction, request);
            if (outcome instanceof ClaimOutcome.Acquired acquired) {
                addEffect(transaction, effect(request.id()));
                store().complete(transaction, acquired.claim(), answer(answer));
                return new ClaimOutcome.Completed(answer(answer));
            }
            transaction.setRollbackOnly();
            return outcome;
        });
    }

    private static String effect(RecordId id) {
        return id.key().value();
    }

    private static boolean leftNothing(Throwable failure) {
        return failure instanceof StoreConflictException
                || failure instanceof ClaimLostException
                || failure instanceof CommitFailedException
                || failure instanceof RolledBackException
                || failure instanceof TransactionLostException;
    }

    private void assertNothingLeft(RecordId id) {
        assertThat(countEffects(effect(id))).isZero();
        acquired(awaitEndOfOthers(request(id)));
    }

    /** A server takes a moment to notice that a connection was cut. */
    private ClaimOutcome awaitEndOfOthers(ClaimRequest request) {
        Instant deadline = Instant.now().plus(deadline());
        ClaimOutcome outcome = probe(request);
        while (outcome instanceof ClaimOutcome.InProgress && Instant.now().isBefore(deadline)) {
            Thread.onSpinWait();
            outcome = probe(request);
        }
        return outcome;
    }

    @Test
    void complete_committed_isVisibleWithTheEffect() {
        RecordId id = freshId();

        attempt(runner(), request(id), "first");

        assertThat(probe(request(id))).isEqualTo(new ClaimOutcome.Completed(answer("first")));
        assertThat(countEffects(effect(id))).isEqualTo(1);
    }

    @Test
    void complete_rolledBack_leavesNothing() {
        RecordId id = freshId();

        inTransaction(transaction -> {
            Claim claim = acquired(store().claim(transaction, request(id)));
            addEffect(transaction, effect(id));
            store().complete(transaction, claim, answer("first"));
            transaction.setRollbackOnly();
            return true;
        });

        assertNothingLeft(id);
    }

    @Test
    void complete_workThrowsAfterwards_leavesNothing() {
        RecordId id = freshId();

        assertThatThrownBy(() -> inTransaction(transaction -> {
                    Claim claim = acquired(store().claim(transaction, request(id)));
                    addEffect(transaction, effect(id));
                    store().complete(transaction, claim, answer("first"));
                    throw new IllegalStateException("after the completion");
                }))
                .hasMessage("after the completion");

        assertNothingLeft(id);
    }

    @Test
    void claim_rolledBack_leavesNothing() {
        RecordId id = freshId();

        inTransaction(transaction -> {
            acquired(store().claim(transaction, request(id)));
            addEffect(transaction, effect(id));
            transaction.setRollbackOnly();
            return true;
        });

        assertNothingLeft(id);
    }

    @Test
    void claim_whileAnotherRuns_isInProgressAtOnce() {
        RecordId id = freshId();
        try (Crew crew = new Crew(1, deadline())) {
            inTransaction(transaction -> {
                acquired(store().claim(transaction, request(id)));
                ClaimOutcome outcome = crew.elsewhere(() -> probe(request(id)));
                assertThat(outcome).isInstanceOf(ClaimOutcome.InProgress.class);
                assertThat(((ClaimOutcome.InProgress) outcome).retryAfter()).isPositive();
                transaction.setRollbackOnly();
                return true;
            });
        }
    }

    @Test
    void claim_whileAnotherHasCompletedButNotCommitted_isInProgress() {
        RecordId id = freshId();
        try (Crew crew = new Crew(1, deadline())) {
            inTransaction(transaction -> {
                Claim claim = acquired(store().claim(transaction, request(id)));
                store().complete(transaction, claim, answer("first"));
                assertThat(crew.elsewhere(() -> probe(request(id)))).isInstanceOf(ClaimOutcome.InProgress.class);
                return true;
            });
        }
        assertThat(probe(request(id))).isEqualTo(new ClaimOutcome.Completed(answer("first")));
    }

    @Test
    void claim_whileAnotherReplacesAnExpiredRecord_isInProgress() {
        RecordId id = freshId();
        record(request(id, Duration.ofSeconds(1)), answer("old"));
        passTime(Duration.ofSeconds(2));
        try (Crew crew = new Crew(1, deadline())) {
            inTransaction(transaction -> {
                Claim claim = acquired(store().claim(transaction, request(id)));
                assertThat(crew.elsewhere(() -> probe(request(id)))).isInstanceOf(ClaimOutcome.InProgress.class);
                store().complete(transaction, claim, answer("new"));
                assertThat(crew.elsewhere(() -> probe(request(id)))).isInstanceOf(ClaimOutcome.InProgress.class);
                return true;
            });
        }
        assertThat(probe(request(id))).isEqualTo(new ClaimOutcome.Completed(answer("new")));
    }

    @Test
    void claim_differentKeysAtTheSameTime_doNotStandInEachOthersWay() {
        try (Crew crew = new Crew(1, deadline())) {
            inTransaction(transaction -> {
                acquired(store().claim(transaction, request(freshId())));
                acquired(crew.elsewhere(() -> probe(request(freshId()))));
                transaction.setRollbackOnly();
                return true;
            });
        }
    }

    @Test
    void claim_twoKeysInOneTransaction_bothComplete() {
        RecordId one = freshId();
        RecordId other = freshId();

        inTransaction(transaction -> {
            Claim first = acquired(store().claim(transaction, request(one)));
            Claim second = acquired(store().claim(transaction, request(other)));
            store().complete(transaction, second, answer("other"));
            store().complete(transaction, first, answer("one"));
            return true;
        });

        assertThat(probe(request(one))).isEqualTo(new ClaimOutcome.Completed(answer("one")));
        assertThat(probe(request(other))).isEqualTo(new ClaimOutcome.Completed(answer("other")));
    }

    @Test
    void complete_twice_isRefused() {
        RecordId id = freshId();

        assertThatThrownBy(() -> inTransaction(transaction -> {
                    Claim claim = acquired(store().claim(transaction, request(id)));
                    addEffect(transaction, effect(id));
                    store().complete(transaction, claim, answer("first"));
                    store().complete(transaction, claim, answer("second"));
                    return true;
                }))
                .isInstanceOf(ClaimLostException.class);

        assertNothingLeft(id);
    }

    @Test
    void complete_claimOfAnEndedTransaction_isRefused() {
        RecordId id = freshId();
        Claim stale = inTransaction(transaction -> {
            transaction.setRollbackOnly();
            return acquired(store().claim(transaction, request(id)));
        });

        assertThatThrownBy(() -> inTransaction(transaction -> {
                    addEffect(transaction, effect(id));
                    store().complete(transaction, stale, answer("stale"));
                    return true;
                }))
                .isInstanceOf(TransactionLostException.class);

        assertNothingLeft(id);
    }

    @Test
    void complete_replacedRecordRolledBack_staysExpired() {
        RecordId id = freshId();
        record(request(id, Duration.ofSeconds(1)), answer("old"));
        passTime(Duration.ofSeconds(2));

        inTransaction(transaction -> {
            Claim claim = acquired(store().claim(transaction, request(id)));
            store().complete(transaction, claim, answer("new"));
            transaction.setRollbackOnly();
            return true;
        });

        acquired(probe(request(id)));
    }

    @Test
    void crash_betweenClaimAndEffect_leavesNothing() {
        RecordId id = freshId();
        crashing(transaction -> {
            acquired(store().claim(transaction, request(id)));
            crash(transaction);
            return true;
        });
        assertNothingLeft(id);
    }

    @Test
    void crash_betweenEffectAndCompletion_leavesNothing() {
        RecordId id = freshId();
        crashing(transaction -> {
            Claim claim = acquired(store().claim(transaction, request(id)));
            addEffect(transaction, effect(id));
            crash(transaction);
            store().complete(transaction, claim, answer("first"));
            return true;
        });
        assertNothingLeft(id);
    }

    @Test
    void crash_betweenCompletionAndCommit_leavesNothing() {
        RecordId id = freshId();
        crashing(transaction -> {
            Claim claim = acquired(store().claim(transaction, request(id)));
            addEffect(transaction, effect(id));
            store().complete(transaction, claim, answer("first"));
            crash(transaction);
            return true;
        });
        assertNothingLeft(id);
    }

    /** Without the record's own statement, a commit on a dead connection is at most unknown, never a success. */
    private void crashing(TransactionWork<Boolean, RuntimeException> work) {
        assertThat(catchThrowable(() -> inTransaction(work))).isInstanceOf(IdempotencyException.class);
    }

    @Test
    void commit_answerLostAfterwards_isFoundCompletedByTheRepeat() {
        RecordId id = freshId();

        assertThatThrownBy(() -> attempt(runnerLosingTheCommit(true), request(id), "first"))
                .isInstanceOf(OutcomeUnknownException.class);

        assertThat(awaitEndOfOthers(request(id))).isEqualTo(new ClaimOutcome.Completed(answer("first")));
        assertThat(countEffects(effect(id))).isEqualTo(1);
    }

    @Test
    void commit_lostOnItsWay_leavesNothing() {
        RecordId id = freshId();

        assertThatThrownBy(() -> attempt(runnerLosingTheCommit(false), request(id), "first"))
                .isInstanceOf(OutcomeUnknownException.class);

        assertNothingLeft(id);
    }

    @Test
    void claim_onATransactionThatCrashed_isNoAnswer() {
        RecordId id = freshId();

        crashing(transaction -> {
            crash(transaction);
            store().claim(transaction, request(id));
            return true;
        });
    }

    @Test
    void deleteExpired_whileARunningClaimReplacesTheRecord_changesNothingForIt() {
        RecordId id = freshId();
        record(request(id, Duration.ofSeconds(1)), answer("old"));
        passTime(Duration.ofSeconds(2));
        try (Crew crew = new Crew(1, deadline())) {
            inTransaction(transaction -> {
                Claim claim = acquired(store().claim(transaction, request(id)));
                crew.elsewhere(() -> {
                    sweep();
                    return true;
                });
                store().complete(transaction, claim, answer("new"));
                return true;
            });
        }

        assertThat(probe(request(id))).isEqualTo(new ClaimOutcome.Completed(answer("new")));
    }

    @Test
    void forget_whileItRuns_isFalseAndChangesNothing() {
        RecordId id = freshId();
        try (Crew crew = new Crew(1, deadline())) {
            inTransaction(transaction -> {
                Claim claim = acquired(store().claim(transaction, request(id)));
                assertThat(crew.elsewhere(() -> store().forget(id))).isFalse();
                store().complete(transaction, claim, answer("first"));
                assertThat(crew.elsewhere(() -> store().forget(id))).isFalse();
                return true;
            });
        }

        assertThat(probe(request(id))).isEqualTo(new ClaimOutcome.Completed(answer("first")));
    }

    @Test
    void forget_whileAnExpiredRecordIsReplaced_isFalseAndChangesNothing() {
        RecordId id = freshId();
        record(request(id, Duration.ofSeconds(1)), answer("old"));
        passTime(Duration.ofSeconds(2));
        try (Crew crew = new Crew(1, deadline())) {
            inTransaction(transaction -> {
                Claim claim = acquired(store().claim(transaction, request(id)));
                assertThat(crew.elsewhere(() -> store().forget(id))).isFalse();
                store().complete(transaction, claim, answer("new"));
                return true;
            });
        }

        assertThat(probe(request(id))).isEqualTo(new ClaimOutcome.Completed(answer("new")));
    }

    @Test
    void race_oneFreshKey_runsOnce() {
        race(id -> request(id), id -> {});
    }

    @Test
    void race_oneExpiredKey_runsOnce() {
        race(id -> request(id), id -> {
            record(request(id, Duration.ofSeconds(1)), answer("old"));
            passTime(Duration.ofSeconds(2));
        });
    }

    @Test
    void race_oneExpiredKeyWithTheSweep_runsOnce() {
        race(
                id -> {
                    sweep();
                    return request(id);
                },
                id -> {
                    record(request(id, Duration.ofSeconds(1)), answer("old"));
                    passTime(Duration.ofSeconds(2));
                });
    }

    private void race(Function<RecordId, ClaimRequest> prepareEach, Consumer<RecordId> prepareAll) {
        try (Crew crew = new Crew(4, deadline())) {
            for (int round = 0; round < TestSize.rounds(60); round++) {
                RecordId id = freshId();
                prepareAll.accept(id);

                List<ClaimOutcome> outcomes =
                        crew.together(member -> repeatUntilAnswered(prepareEach.apply(id), "member " + member));

                assertThat(countEffects(effect(id))).as("effects of %s", id).isEqualTo(1);
                assertThat(outcomes).as("answers").containsOnly(probe(request(id)));
            }
        }
    }

    /** A client that repeats with the same key until it is given an answer. */
    private ClaimOutcome repeatUntilAnswered(ClaimRequest request, String answer) {
        Instant deadline = Instant.now().plus(deadline());
        while (Instant.now().isBefore(deadline)) {
            try {
                ClaimOutcome outcome = attempt(runner(), request, answer);
                if (!(outcome instanceof ClaimOutcome.InProgress)) {
                    return outcome;
                }
            } catch (IdempotencyException e) {
                if (!leftNothing(e)) {
                    throw e;
                }
            }
            Thread.onSpinWait();
        }
        throw new AssertionError("No answer within " + deadline());
    }

    /** Many keys, many clients, and every way for an attempt to fail; afterwards each key has one effect, one answer. */
    @Test
    void fuzz_crashesRollbacksAndLostCommits_oneEffectAndOneAnswerPerKey() {
        long seed = TestSize.seed("fuzz_crashesRollbacksAndLostCommits");
        int keys = TestSize.rounds(40);
        List<RecordId> ids = new ArrayList<>();
        for (int i = 0; i < keys; i++) {
            ids.add(freshId());
        }
        try (Crew crew = new Crew(6, deadline())) {
            List<List<ClaimOutcome>> answers = crew.together(member -> {
                Random random = new Random(seed + member);
                List<ClaimOutcome> seen = new ArrayList<>();
                for (RecordId id : ids) {
                    for (int i = random.nextInt(3); i > 0; i--) {
                        failOnce(random, request(id));
                    }
                    seen.add(repeatUntilAnswered(request(id), "member " + member));
                }
                return seen;
            });
            for (int i = 0; i < keys; i++) {
                RecordId id = ids.get(i);
                int position = i;
                assertThat(countEffects(effect(id)))
                        .as("effects of %s, seed %s", id, seed)
                        .isEqualTo(1);
                assertThat(answers.stream().map(list -> list.get(position)).toList())
                        .as("answers for %s, seed %s", id, seed)
                        .containsOnly(probe(request(id)));
            }
        }
    }

    private void failOnce(Random random, ClaimRequest request) {
        try {
            if (random.nextInt(4) == 0) {
                attempt(runnerLosingTheCommit(random.nextBoolean()), request, "lost");
            } else {
                failInside(random.nextInt(3), request);
            }
        } catch (IdempotencyException e) {
            log.debug("An attempt failed, as it should", e);
        }
    }

    private void failInside(int kind, ClaimRequest request) {
        inTransaction(transaction -> {
            transaction.setRollbackOnly();
            if (store().claim(transaction, request) instanceof ClaimOutcome.Acquired acquired) {
                addEffect(transaction, effect(request.id()));
                if (kind == 0) {
                    crash(transaction);
                }
                if (kind != 1) {
                    store().complete(transaction, acquired.claim(), answer("failing"));
                }
            }
            return true;
        });
    }

    /** The counter is not protected by anything but the key: two owners at once would lose an increment. */
    @Test
    void fuzz_unprotectedCounter_losesNothing() {
        String counter = "counter-" + freshId().key().value();
        int rounds = TestSize.rounds(60);
        List<RecordId> ids = new ArrayList<>();
        for (int i = 0; i < rounds; i++) {
            ids.add(freshId());
        }
        try (Crew crew = new Crew(4, deadline())) {
            for (RecordId id : ids) {
                crew.together(member -> repeat(id, counter));
            }
        }
        assertThat(countEffects(counter)).isEqualTo(rounds);
    }

    private ClaimOutcome repeat(RecordId id, String counter) {
        ClaimRequest request = new ClaimRequest(id, ASKED, RETENTION, AbandonedPolicy.RUN_AGAIN);
        Instant deadline = Instant.now().plus(deadline());
        while (Instant.now().isBefore(deadline)) {
            ClaimOutcome outcome;
            try {
                outcome = inTransaction(transaction -> {
                    ClaimOutcome claimed = store().claim(transaction, request);
                    if (claimed instanceof ClaimOutcome.Acquired acquired) {
                        addEffect(transaction, counter);
                        store().complete(transaction, acquired.claim(), answer("counted"));
                    }
                    return claimed;
                });
            } catch (IdempotencyException e) {
                continue;
            }
            if (!(outcome instanceof ClaimOutcome.InProgress)) {
                return outcome;
            }
            Thread.onSpinWait();
        }
        throw new AssertionError("No answer within " + deadline());
    }
}
