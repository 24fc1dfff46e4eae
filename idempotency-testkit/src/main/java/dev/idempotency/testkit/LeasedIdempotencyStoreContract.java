package dev.idempotency.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.idempotency.IdempotencyException;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.Scope;
import dev.idempotency.StoreConflictException;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.spi.LeasedIdempotencyStore;
import dev.idempotency.transaction.OutcomeUnknownException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * What every {@link LeasedIdempotencyStore} must do; a store's test inherits it and says how to reach the store.
 *
 * <p>Leases end by {@link #passTime}, never by waiting.
 */
public abstract class LeasedIdempotencyStoreContract extends IdempotencyStoreContract {
    private static final Duration LEASE = Duration.ofMinutes(10);

    /** For subclasses. */
    protected LeasedIdempotencyStoreContract() {}

    @Override
    protected abstract LeasedIdempotencyStore store();

    /**
     * Returns the same store on a connection whose next commit is followed by the loss of its answer.
     *
     * @param committed whether the commit arrives and is carried out; if not, it never arrives
     * @param meanwhile what happens after the loss, before the store does anything more
     * @return a store on the same records, to be used once
     */
    protected abstract LeasedIdempotencyStore storeLosingTheCommit(boolean committed, Runnable meanwhile);

    /**
     * Sets the store's clock back, or moves all its records, their tokens included, into the future.
     *
     * @param duration how far
     */
    protected abstract void setClockBack(Duration duration);

    private LeasedIdempotencyStore storeLosingTheCommit(boolean committed) {
        return storeLosingTheCommit(committed, () -> {});
    }

    @Override
    final ClaimOutcome probe(ClaimRequest request) {
        ClaimOutcome outcome = store().claim(request, LEASE);
        if (outcome instanceof ClaimOutcome.Acquired acquired) {
            assertThat(store().release(acquired.claim())).isTrue();
        }
        return outcome;
    }

    @Override
    final Claim record(ClaimRequest request, RecordedResult result) {
        Claim claim = acquired(store().claim(request, LEASE));
        assertThat(store().complete(claim, result)).isTrue();
        return claim;
    }

    private Claim claim(RecordId id) {
        return acquired(store().claim(request(id), LEASE));
    }

    private Claim takeOver(RecordId id) {
        return acquired(store().claim(runAgain(id), LEASE));
    }

    private Claim abandonedClaim(RecordId id) {
        Claim claim = claim(id);
        passTime(LEASE.plusSeconds(1));
        return claim;
    }

    private static ClaimRequest runAgain(RecordId id) {
        return new ClaimRequest(id, ASKED, RETENTION, AbandonedPolicy.RUN_AGAIN);
    }

    @Test
    void claim_whileTheLeaseRuns_isInProgress() {
        RecordId id = freshId();
        claim(id);

        ClaimOutcome outcome = store().claim(request(id), LEASE);

        assertThat(outcome).isInstanceOf(ClaimOutcome.InProgress.class);
        assertThat(((ClaimOutcome.InProgress) outcome).retryAfter())
                .isPositive()
                .isLessThanOrEqualTo(LEASE);
        assertThat(store().claim(runAgain(id), LEASE)).isInstanceOf(ClaimOutcome.InProgress.class);
    }

    @Test
    void claim_whileTheLeaseRunsOtherFingerprint_isMismatch() {
        RecordId id = freshId();
        claim(id);

        assertThat(store().claim(request(id, OTHER), LEASE)).isEqualTo(new ClaimOutcome.Mismatch());
    }

    @Test
    void claim_abandoned_isReportedAsUnknown() {
        RecordId id = freshId();
        abandonedClaim(id);

        assertThat(store().claim(request(id), LEASE)).isEqualTo(new ClaimOutcome.Abandoned());
        assertThat(store().claim(request(id), LEASE)).isEqualTo(new ClaimOutcome.Abandoned());
    }

    @Test
    void claim_abandonedToRunAgain_isTheNextAttemptWithAGreaterToken() {
        RecordId id = freshId();
        Claim first = abandonedClaim(id);

        Claim second = takeOver(id);
        assertThat(second.attempt()).isEqualTo(2);
        assertThat(second.token()).isGreaterThan(first.token());

        passTime(LEASE.plusSeconds(1));
        Claim third = takeOver(id);
        assertThat(third.attempt()).isEqualTo(3);
        assertThat(third.token()).isGreaterThan(second.token());
    }

    @Test
    void claim_abandonedOtherFingerprint_isMismatch() {
        RecordId id = freshId();
        abandonedClaim(id);

        assertThat(store().claim(new ClaimRequest(id, OTHER, RETENTION, AbandonedPolicy.RUN_AGAIN), LEASE))
                .isEqualTo(new ClaimOutcome.Mismatch());
    }

    @Test
    void claim_abandonedAndPastRetention_isAFirstAttempt() {
        RecordId id = freshId();
        acquired(store().claim(request(id, Duration.ofMinutes(20)), LEASE));
        passTime(Duration.ofMinutes(21));

        assertThat(claim(id).attempt()).isEqualTo(1);
    }

    @Test
    void claim_pastRetentionWhileTheLeaseRuns_isInProgress() {
        RecordId id = freshId();
        Claim claim = acquired(store().claim(request(id, Duration.ofMinutes(1)), LEASE));
        passTime(Duration.ofMinutes(2));

        assertThat(store().claim(request(id), LEASE)).isInstanceOf(ClaimOutcome.InProgress.class);
        assertThat(store().extend(claim, LEASE)).isTrue();
    }

    @Test
    void claim_leaseOutOfRange_isRefused() {
        ClaimRequest request = request(freshId());
        assertThatIllegalArgumentException().isThrownBy(() -> store().claim(request, Duration.ofMillis(999)));
        assertThatIllegalArgumentException().isThrownBy(() -> store().claim(request, Duration.ofHours(25)));
        assertThatIllegalArgumentException().isThrownBy(() -> store().claim(request, Duration.ofHours(-1)));
    }

    @Test
    void claim_shortestAndLongestLease_areHeld() {
        RecordId one = freshId();
        RecordId other = freshId();
        acquired(store().claim(request(one), Duration.ofSeconds(1)));
        acquired(store().claim(request(other), Duration.ofHours(24)));
        passTime(Duration.ofHours(23));

        assertThat(store().claim(request(one), LEASE)).isEqualTo(new ClaimOutcome.Abandoned());
        assertThat(store().claim(request(other), LEASE)).isInstanceOf(ClaimOutcome.InProgress.class);
    }

    @Test
    void claim_longRowOfOwners_tokensGrow() {
        RecordId id = freshId();
        long last = 0;
        for (int i = 0; i < 12; i++) {
            Claim claim = takeOver(id);
            assertThat(claim.token()).isGreaterThan(last);
            last = claim.token();
            if (i % 3 == 0) {
                passTime(LEASE.plusSeconds(1));
            } else {
                assertThat(store().release(claim)).isTrue();
            }
        }
    }

    @Test
    void complete_twice_keepsTheFirstResult() {
        RecordId id = freshId();
        Claim claim = record(request(id), answer("first"));

        store().complete(claim, answer("second"));

        assertThat(probe(request(id))).isEqualTo(new ClaimOutcome.Completed(answer("first")));
    }

    @Test
    void complete_leaseEndedUnnoticed_isRecorded() {
        RecordId id = freshId();
        Claim claim = abandonedClaim(id);

        assertThat(store().complete(claim, answer("late"))).isTrue();
        assertThat(probe(request(id))).isEqualTo(new ClaimOutcome.Completed(answer("late")));
    }

    @Test
    void complete_afterItWasReportedAbandoned_isRecorded() {
        RecordId id = freshId();
        Claim claim = abandonedClaim(id);
        assertThat(store().claim(request(id), LEASE)).isEqualTo(new ClaimOutcome.Abandoned());

        assertThat(store().complete(claim, answer("late"))).isTrue();
        assertThat(probe(request(id))).isEqualTo(new ClaimOutcome.Completed(answer("late")));
    }

    @Test
    void complete_afterTakeOver_isRefusedAndLeavesTheSuccessorAlone() {
        RecordId id = freshId();
        Claim late = abandonedClaim(id);
        Claim successor = takeOver(id);

        assertThat(store().complete(late, answer("late"))).isFalse();
        assertThat(store().claim(request(id), LEASE)).isInstanceOf(ClaimOutcome.InProgress.class);
        assertThat(store().complete(successor, answer("successor"))).isTrue();
        assertThat(store().complete(late, answer("late"))).isFalse();
        assertThat(probe(request(id))).isEqualTo(new ClaimOutcome.Completed(answer("successor")));
    }

    @Test
    void complete_afterRelease_isRefused() {
        RecordId id = freshId();
        Claim claim = claim(id);
        store().release(claim);

        assertThat(store().complete(claim, answer("late"))).isFalse();
        assertThat(store().complete(claim, answer("late"))).isFalse();
        assertThat(claim(id).attempt()).isEqualTo(1);
    }

    @Test
    void complete_afterReleaseAndTheNextClaim_isRefused() {
        RecordId id = freshId();
        Claim claim = claim(id);
        store().release(claim);
        claim(id);

        assertThat(store().complete(claim, answer("late"))).isFalse();
        assertThat(store().claim(request(id), LEASE)).isInstanceOf(ClaimOutcome.InProgress.class);
    }

    @Test
    void complete_recordGone_isRefused() {
        RecordId id = freshId();
        Claim claim = abandonedClaim(id);
        assertThat(store().forget(id)).isTrue();

        assertThat(store().complete(claim, answer("late"))).isFalse();
        claim(id);
    }

    @Test
    void complete_retention_countsFromTheClaim() {
        RecordId id = freshId();
        Claim claim = acquired(store().claim(request(id, Duration.ofHours(1)), Duration.ofHours(2)));
        passTime(Duration.ofMinutes(59));
        assertThat(store().complete(claim, answer("first"))).isTrue();
        assertThat(probe(request(id))).isEqualTo(new ClaimOutcome.Completed(answer("first")));
        passTime(Duration.ofMinutes(2));

        claim(id);
    }

    @Test
    void release_owner_freesTheKeyForAFirstAttempt() {
        RecordId id = freshId();
        Claim claim = claim(id);

        assertThat(store().release(claim)).isTrue();

        Claim next = claim(id);
        assertThat(next.attempt()).isEqualTo(1);
        assertThat(next.token()).isGreaterThan(claim.token());
    }

    @Test
    void release_twice_isRefused() {
        RecordId id = freshId();
        Claim claim = claim(id);

        assertThat(store().release(claim)).isTrue();
        assertThat(store().release(claim)).isFalse();
        assertThat(store().extend(claim, LEASE)).isFalse();
        claim(id);
    }

    /** Tokens can be the same: after the record's deletion and a step of the clock, or in one instant. */
    @Test
    void claimOfAnotherWithTheSameToken_changesNothing() {
        RecordId id = freshId();
        Claim owner = claim(id);
        Claim other =
                new Claim(owner.request(), UUID.randomUUID(), owner.token(), owner.attempt(), owner.transactionProof());

        assertThat(store().extend(other, Duration.ofHours(1))).isFalse();
        assertThat(store().complete(other, answer("other"))).isFalse();
        assertThat(store().release(other)).isFalse();
        assertThat(store().complete(owner, answer("owner"))).isTrue();
        assertThat(store().complete(other, answer("other"))).isFalse();
        assertThat(store().release(other)).isFalse();
        assertThat(probe(request(id))).isEqualTo(new ClaimOutcome.Completed(answer("owner")));
    }

    @Test
    void release_twice_doesNotTouchTheNextOwner() {
        RecordId id = freshId();
        Claim claim = claim(id);
        store().release(claim);
        Claim next = claim(id);

        assertThat(store().release(claim)).isFalse();
        assertThat(store().extend(next, LEASE)).isTrue();
    }

    @Test
    void release_afterTakeOver_isRefused() {
        RecordId id = freshId();
        Claim late = abandonedClaim(id);
        takeOver(id);

        assertThat(store().release(late)).isFalse();
        assertThat(store().claim(request(id), LEASE)).isInstanceOf(ClaimOutcome.InProgress.class);
    }

    @Test
    void release_afterCompletion_keepsTheResult() {
        RecordId id = freshId();
        Claim claim = record(request(id), answer("first"));

        assertThat(store().release(claim)).isFalse();
        assertThat(probe(request(id))).isEqualTo(new ClaimOutcome.Completed(answer("first")));
    }

    @Test
    void extend_running_keepsOthersOut() {
        RecordId id = freshId();
        Claim claim = claim(id);
        for (int i = 0; i < 3; i++) {
            passTime(LEASE.minusSeconds(60));
            assertThat(store().extend(claim, LEASE)).isTrue();
        }
        passTime(LEASE.minusSeconds(60));

        assertThat(store().claim(runAgain(id), LEASE)).isInstanceOf(ClaimOutcome.InProgress.class);
    }

    @Test
    void extend_toAShorterLease_endsSooner() {
        RecordId id = freshId();
        Claim claim = claim(id);
        assertThat(store().extend(claim, Duration.ofMinutes(1))).isTrue();
        passTime(Duration.ofMinutes(2));

        assertThat(store().claim(request(id), LEASE)).isEqualTo(new ClaimOutcome.Abandoned());
    }

    @Test
    void extend_ended_isRefusedAndDoesNotReviveIt() {
        RecordId id = freshId();
        Claim claim = abandonedClaim(id);

        assertThat(store().extend(claim, LEASE)).isFalse();
        assertThat(store().claim(request(id), LEASE)).isEqualTo(new ClaimOutcome.Abandoned());
    }

    @Test
    void extend_afterTakeOver_isRefused() {
        RecordId id = freshId();
        Claim late = abandonedClaim(id);
        Claim successor = acquired(store().claim(runAgain(id), Duration.ofMinutes(1)));

        assertThat(store().extend(late, Duration.ofHours(5))).isFalse();
        passTime(Duration.ofMinutes(2));
        assertThat(store().extend(successor, LEASE)).isFalse();
    }

    @Test
    void extend_afterCompletion_isRefusedAndKeepsTheResult() {
        RecordId id = freshId();
        Claim claim = record(request(id), answer("first"));

        assertThat(store().extend(claim, LEASE)).isFalse();
        assertThat(probe(request(id))).isEqualTo(new ClaimOutcome.Completed(answer("first")));
    }

    @Test
    void extend_afterRelease_isRefused() {
        RecordId id = freshId();
        Claim claim = claim(id);
        store().release(claim);

        assertThat(store().extend(claim, LEASE)).isFalse();
        claim(id);
    }

    @Test
    void extend_leaseOutOfRange_isRefused() {
        Claim claim = claim(freshId());
        assertThatIllegalArgumentException().isThrownBy(() -> store().extend(claim, Duration.ofMillis(1)));
        assertThatIllegalArgumentException().isThrownBy(() -> store().extend(claim, Duration.ofDays(2)));
    }

    @Test
    void forget_runningClaim_isFalseAndLeavesIt() {
        RecordId id = freshId();
        Claim claim = claim(id);

        assertThat(store().forget(id)).isFalse();
        assertThat(store().complete(claim, answer("first"))).isTrue();
    }

    @Test
    void forget_abandonedClaim_freesTheKey() {
        RecordId id = freshId();
        abandonedClaim(id);

        assertThat(store().forget(id)).isTrue();
        assertThat(claim(id).attempt()).isEqualTo(1);
    }

    @Test
    void forgetCaller_leavesRunningClaims() {
        Scope scope = Scope.ofPrincipal("running", "op");
        RecordId running = freshId(scope);
        RecordId over = freshId(scope);
        Claim claim = claim(running);
        record(request(over), answer("over"));

        assertThat(store().forgetCaller(scope, 100)).isEqualTo(1);
        assertThat(store().complete(claim, answer("first"))).isTrue();
    }

    @Test
    void deleteExpired_leavesRunningClaimsPastRetention() {
        RecordId id = freshId();
        Claim claim = acquired(store().claim(request(id, Duration.ofSeconds(1)), LEASE));
        passTime(Duration.ofMinutes(1));

        assertThat(store().deleteExpired(100)).isZero();
        assertThat(store().extend(claim, LEASE)).isTrue();
        assertThat(store().complete(claim, answer("first"))).isTrue();
    }

    @Test
    void deleteExpired_takesAbandonedClaimsPastRetentionOnly() {
        RecordId past = freshId();
        RecordId kept = freshId();
        acquired(store().claim(request(past, Duration.ofMinutes(20)), LEASE));
        acquired(store().claim(request(kept, Duration.ofHours(20)), LEASE));
        passTime(Duration.ofMinutes(30));

        assertThat(store().deleteExpired(100)).isEqualTo(1);
        assertThat(store().claim(request(kept), LEASE)).isEqualTo(new ClaimOutcome.Abandoned());
    }

    @Test
    void commit_ofAClaimWithItsAnswerLost_isFoundOut() {
        RecordId id = freshId();

        Claim claim = acquired(storeLosingTheCommit(true).claim(request(id), LEASE));

        assertThat(store().claim(request(id), LEASE)).isInstanceOf(ClaimOutcome.InProgress.class);
        assertThat(store().complete(claim, answer("first"))).isTrue();
    }

    @Test
    void commit_ofAClaimLostOnItsWay_isFoundOut() {
        RecordId id = freshId();

        Claim claim = acquired(storeLosingTheCommit(false).claim(request(id), LEASE));

        assertThat(store().claim(request(id), LEASE)).isInstanceOf(ClaimOutcome.InProgress.class);
        assertThat(store().complete(claim, answer("first"))).isTrue();
    }

    /** With the clock set back both claims are given the token after the last one: it does not tell who is who. */
    @Test
    void commit_ofAClaimLostOnItsWayAndSucceeded_isNotTakenForOnesOwn() {
        RecordId id = freshId();
        acquired(probe(request(id)));
        setClockBack(Duration.ofHours(1));
        List<Claim> successor = new CopyOnWriteArrayList<>();
        LeasedIdempotencyStore losing = storeLosingTheCommit(false, () -> successor.add(awaitClaim(id)));

        ClaimOutcome outcome = losing.claim(request(id), LEASE);

        assertThat(successor).as("the successor's claim").hasSize(1);
        assertThat(outcome).isInstanceOf(ClaimOutcome.InProgress.class);
        assertThat(store().complete(successor.get(0), answer("successor"))).isTrue();
        assertThat(probe(request(id))).isEqualTo(new ClaimOutcome.Completed(answer("successor")));
    }

    /** Claims as soon as the server has noticed that the owner of a cut connection is gone. */
    private Claim awaitClaim(RecordId id) {
        Instant deadline = Instant.now().plus(deadline());
        ClaimOutcome outcome = store().claim(request(id), LEASE);
        while (!(outcome instanceof ClaimOutcome.Acquired) && Instant.now().isBefore(deadline)) {
            Thread.onSpinWait();
            outcome = store().claim(request(id), LEASE);
        }
        return acquired(outcome);
    }

    @Test
    void commit_ofACompletionWithItsAnswerLost_isFoundOutByRepeatingIt() {
        RecordId id = freshId();
        Claim claim = claim(id);

        Throwable failure = catchThrowable(() -> storeLosingTheCommit(true).complete(claim, answer("first")));

        assertThat(failure).isInstanceOf(OutcomeUnknownException.class);
        assertThat(store().complete(claim, answer("first"))).isTrue();
        assertThat(probe(request(id))).isEqualTo(new ClaimOutcome.Completed(answer("first")));
    }

    @Test
    void commit_ofACompletionLostOnItsWay_leavesTheClaim() {
        RecordId id = freshId();
        Claim claim = claim(id);

        Throwable failure = catchThrowable(() -> storeLosingTheCommit(false).complete(claim, answer("first")));

        assertThat(failure).isInstanceOf(OutcomeUnknownException.class);
        assertThat(awaitEndOfOthers(() -> store().extend(claim, LEASE))).isTrue();
        assertThat(store().complete(claim, answer("first"))).isTrue();
    }

    /** A server takes a moment to notice that a connection was cut, and until then keeps its locks. */
    private boolean awaitEndOfOthers(BooleanSupplier attempt) {
        Instant deadline = Instant.now().plus(deadline());
        while (true) {
            try {
                return attempt.getAsBoolean();
            } catch (StoreConflictException e) {
                if (Instant.now().isAfter(deadline)) {
                    throw e;
                }
            }
        }
    }

    @Test
    void race_oneFreshKey_hasOneOwner() {
        race(id -> request(id), id -> {});
    }

    @Test
    void race_oneAbandonedClaim_hasOneOwner() {
        race(LeasedIdempotencyStoreContract::runAgain, this::abandonedClaim);
    }

    @Test
    void race_oneExpiredRecord_hasOneOwner() {
        race(id -> request(id), id -> {
            record(request(id, Duration.ofSeconds(1)), answer("old"));
            passTime(Duration.ofSeconds(2));
        });
    }

    @Test
    void race_oneReleasedKeyWithTheSweep_hasOneOwner() {
        race(
                id -> {
                    sweep();
                    return request(id);
                },
                this::probeFresh);
    }

    private void probeFresh(RecordId id) {
        acquired(probe(request(id)));
    }

    private void race(Function<RecordId, ClaimRequest> prepareEach, Consumer<RecordId> prepareAll) {
        try (Crew crew = new Crew(4, deadline())) {
            for (int round = 0; round < TestSize.rounds(60); round++) {
                RecordId id = freshId();
                prepareAll.accept(id);

                List<Boolean> owners = ownersOf(crew, id, prepareEach);

                assertThat(owners).as("owners of %s", id).containsOnlyOnce(true);
            }
        }
    }

    /** A store that waits for nobody may tell all of them, while the sweep holds the row, that somebody is at work. */
    private List<Boolean> ownersOf(Crew crew, RecordId id, Function<RecordId, ClaimRequest> prepareEach) {
        long end = System.nanoTime() + deadline().toNanos();
        List<Boolean> owners;
        do {
            owners = crew.together(member -> isOwner(prepareEach.apply(id)));
        } while (!owners.contains(true) && System.nanoTime() < end);
        return owners;
    }

    private boolean isOwner(ClaimRequest request) {
        try {
            ClaimOutcome outcome = store().claim(request, LEASE);
            assertThat(outcome).isInstanceOfAny(ClaimOutcome.Acquired.class, ClaimOutcome.InProgress.class);
            return outcome instanceof ClaimOutcome.Acquired;
        } catch (StoreConflictException e) {
            return false;
        }
    }

    /** Owners that complete, give up or vanish, at random; each key ends with one result, that of its last owner. */
    @Test
    void fuzz_ownersThatVanish_oneCompletionPerKey() {
        long seed = TestSize.seed("fuzz_ownersThatVanish");
        int keys = TestSize.rounds(30);
        List<RecordId> ids = new ArrayList<>();
        List<AtomicInteger> completions = new ArrayList<>();
        for (int i = 0; i < keys; i++) {
            ids.add(freshId());
            completions.add(new AtomicInteger());
        }
        try (Crew crew = new Crew(6, deadline())) {
            crew.together(member -> {
                Random random = new Random(seed + member);
                for (int i = 0; i < keys; i++) {
                    own(random, ids.get(i), completions.get(i), "member " + member);
                }
                return true;
            });
        }
        for (int i = 0; i < keys; i++) {
            assertThat(completions.get(i))
                    .as("completions of %s, seed %s", ids.get(i), seed)
                    .hasValue(1);
            assertThat(probe(request(ids.get(i)))).isInstanceOf(ClaimOutcome.Completed.class);
        }
    }

    private void own(Random random, RecordId id, AtomicInteger completions, String answer) {
        Instant deadline = Instant.now().plus(deadline());
        while (Instant.now().isBefore(deadline)) {
            try {
                ClaimOutcome outcome = store().claim(runAgain(id), LEASE);
                if (outcome instanceof ClaimOutcome.Completed) {
                    return;
                }
                if (outcome instanceof ClaimOutcome.Acquired acquired) {
                    useUp(random, acquired.claim(), completions, answer);
                }
            } catch (IdempotencyException e) {
                assertThat(e).isInstanceOf(StoreConflictException.class);
            }
            Thread.onSpinWait();
        }
        throw new AssertionError("No answer within " + deadline());
    }

    private void useUp(Random random, Claim claim, AtomicInteger completions, String answer) {
        switch (random.nextInt(4)) {
            case 0 -> store().release(claim);
            case 1 -> {
                // The owner vanishes and comes back when its lease has ended, perhaps after a successor.
                passTime(LEASE.plusSeconds(1));
                complete(claim, completions, answer);
            }
            case 2 -> {
                store().extend(claim, LEASE);
                complete(claim, completions, answer);
            }
            default -> complete(claim, completions, answer);
        }
    }

    private void complete(Claim claim, AtomicInteger completions, String answer) {
        boolean recorded = store().complete(claim, answer(answer));
        if (recorded) {
            completions.incrementAndGet();
        }
    }
}
