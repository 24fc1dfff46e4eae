package dev.idempotency.testkit.memory;

import dev.idempotency.Caller;
import dev.idempotency.Fingerprint;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.RecordedResult.Replayable;
import dev.idempotency.Scope;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.transaction.Transaction;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/** Stores that break one rule each, in ways that have been seen in the field; the contracts must find every one. */
final class BrokenStores {
    private BrokenStores() {}

    static class CommitsOnItsOwn extends InMemoryIdempotencyStore {
        CommitsOnItsOwn(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public void complete(Transaction transaction, Claim claim, RecordedResult result) {
            synchronized (database) {
                entries.put(
                        identity(claim.request().id()),
                        Entry.claimed(claim, now(), null).completed(result));
            }
        }
    }

    /** Writes over whatever stands there. */
    static class LosesAnUpdate extends InMemoryIdempotencyStore {
        LosesAnUpdate(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public void complete(Transaction transaction, Claim claim, RecordedResult result) {
            InMemoryTransaction joined = transaction.unwrap(InMemoryTransaction.class);
            synchronized (database) {
                joined.requireRunning();
                Entry completed = Entry.claimed(claim, now(), null).completed(result);
                joined.write(() -> entries.put(identity(claim.request().id()), completed));
            }
        }
    }

    static final class LooksUpBeforeItLocks extends LosesAnUpdate {
        LooksUpBeforeItLocks(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public ClaimOutcome claim(Transaction transaction, ClaimRequest request) {
            InMemoryTransaction joined = transaction.unwrap(InMemoryTransaction.class);
            Optional<Entry> seen;
            synchronized (database) {
                joined.requireRunning();
                seen = find(request.id());
            }
            LockSupport.parkNanos(200_000);
            synchronized (database) {
                boolean locked = database.tryLock(identity(request.id()), joined);
                return obstacle(seen, request, locked)
                        .orElseGet(
                                () -> new ClaimOutcome.Acquired(nextClaim(request, seen, Long.toString(joined.id()))));
            }
        }
    }

    static final class TakesNoLock extends InMemoryIdempotencyStore {
        TakesNoLock(InMemoryDatabase database) {
            super(database);
        }

        @Override
        Optional<ClaimOutcome> obstacle(Optional<Entry> found, ClaimRequest request, boolean locked) {
            return super.obstacle(found, request, true);
        }
    }

    static final class CompletesInAnyTransaction extends LosesAnUpdate {
        CompletesInAnyTransaction(InMemoryDatabase database) {
            super(database);
        }
    }

    static final class KeepsTheClaimAfterARollback extends InMemoryIdempotencyStore {
        KeepsTheClaimAfterARollback(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public ClaimOutcome claim(Transaction transaction, ClaimRequest request) {
            ClaimOutcome outcome = super.claim(transaction, request);
            if (outcome instanceof ClaimOutcome.Acquired acquired) {
                synchronized (database) {
                    entries.putIfAbsent(
                            identity(request.id()), Entry.claimed(acquired.claim(), now(), now().plusSeconds(600)));
                }
            }
            return outcome;
        }
    }

    static final class ForgetsExpiry extends InMemoryIdempotencyStore {
        ForgetsExpiry(InMemoryDatabase database) {
            super(database);
        }

        @Override
        boolean isAbsent(Entry entry) {
            return false;
        }
    }

    static final class ForgetsTooEarly extends InMemoryIdempotencyStore {
        ForgetsTooEarly(InMemoryDatabase database) {
            super(database);
        }

        @Override
        boolean isAbsent(Entry entry) {
            return !entry.expiresAt.minus(Duration.ofMinutes(5)).isAfter(now()) && !entry.isLive(now());
        }
    }

    static final class FoldsCase extends InMemoryIdempotencyStore {
        FoldsCase(InMemoryDatabase database) {
            super(database);
        }

        @Override
        Object identity(RecordId id) {
            return id.scope() + "/" + id.key().value().toLowerCase(Locale.ROOT);
        }
    }

    static final class IgnoresTrailingSpaces extends InMemoryIdempotencyStore {
        IgnoresTrailingSpaces(InMemoryDatabase database) {
            super(database);
        }

        @Override
        Object identity(RecordId id) {
            return id.scope() + "/" + id.key().value().stripTrailing();
        }
    }

    static final class CutsKeys extends InMemoryIdempotencyStore {
        CutsKeys(InMemoryDatabase database) {
            super(database);
        }

        @Override
        Object identity(RecordId id) {
            String key = id.key().value();
            return id.scope() + "/" + key.substring(0, Math.min(key.length(), 64));
        }
    }

    static final class IgnoresTheScope extends InMemoryIdempotencyStore {
        IgnoresTheScope(InMemoryDatabase database) {
            super(database);
        }

        @Override
        Object identity(RecordId id) {
            return id.key();
        }
    }

    static final class JoinsTheScopesParts extends InMemoryIdempotencyStore {
        JoinsTheScopesParts(InMemoryDatabase database) {
            super(database);
        }

        @Override
        Object identity(RecordId id) {
            Scope scope = id.scope();
            String caller = scope.caller() instanceof Caller.Principal principal
                    ? principal.name()
                    : scope.caller().getClass().getSimpleName().toLowerCase(Locale.ROOT);
            return scope.tenant() + caller + scope.operation() + id.key().value();
        }
    }

    static final class IgnoresTheFingerprint extends InMemoryIdempotencyStore {
        IgnoresTheFingerprint(InMemoryDatabase database) {
            super(database);
        }

        @Override
        Optional<ClaimOutcome> obstacle(Optional<Entry> found, ClaimRequest request, boolean locked) {
            return super.obstacle(found, without(request), locked);
        }

        private static ClaimRequest without(ClaimRequest request) {
            return new ClaimRequest(request.id(), Fingerprint.none(), request.retention(), request.abandoned());
        }
    }

    static final class ComparesTheFingerprintWhenCompleted extends InMemoryIdempotencyStore {
        ComparesTheFingerprintWhenCompleted(InMemoryDatabase database) {
            super(database);
        }

        @Override
        Optional<ClaimOutcome> obstacle(Optional<Entry> found, ClaimRequest request, boolean locked) {
            boolean running = found.isPresent() && found.get().result == null;
            return super.obstacle(found, running ? IgnoresTheFingerprint.without(request) : request, locked);
        }
    }

    static final class CutsBodies extends InMemoryIdempotencyStore {
        CutsBodies(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public void complete(Transaction transaction, Claim claim, RecordedResult result) {
            super.complete(transaction, claim, cut(result));
        }

        @Override
        public boolean complete(Claim claim, RecordedResult result) {
            return super.complete(claim, cut(result));
        }

        private static RecordedResult cut(RecordedResult result) {
            if (result instanceof Replayable replayable) {
                int length = Math.min(replayable.body().length, 65_535);
                return new Replayable(
                        replayable.status(), replayable.metadata(), Arrays.copyOf(replayable.body(), length));
            }
            return result;
        }
    }

    static final class SweepsWhatIsNotExpired extends InMemoryIdempotencyStore {
        SweepsWhatIsNotExpired(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public int deleteExpired(int limit) {
            return remove(limit, entry -> true);
        }
    }

    static final class SweepsWithoutALimit extends InMemoryIdempotencyStore {
        SweepsWithoutALimit(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public int deleteExpired(int limit) {
            return super.deleteExpired(10_000);
        }
    }

    static final class SweepsRunningClaims extends InMemoryIdempotencyStore {
        SweepsRunningClaims(InMemoryDatabase database) {
            super(database);
        }

        @Override
        boolean isRemovable(Object identity, Entry entry) {
            return true;
        }
    }

    static final class ForgetsWhatRuns extends InMemoryIdempotencyStore {
        ForgetsWhatRuns(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public boolean forget(RecordId id) {
            synchronized (database) {
                return entries.remove(identity(id)) != null || database.isLocked(identity(id));
            }
        }
    }

    static final class ForgetsCallersOfOtherTenants extends InMemoryIdempotencyStore {
        ForgetsCallersOfOtherTenants(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public int forgetCaller(Scope caller, int limit) {
            return remove(
                    limit, entry -> entry.claim.request().id().scope().caller().equals(caller.caller()));
        }
    }

    static final class IgnoresTheToken extends InMemoryIdempotencyStore {
        IgnoresTheToken(InMemoryDatabase database) {
            super(database);
        }

        @Override
        boolean isMine(Entry entry, Claim claim) {
            return true;
        }
    }

    /** Takes whoever has the same token for the same owner. */
    static final class KnowsItsClaimByTheToken extends InMemoryIdempotencyStore {
        KnowsItsClaimByTheToken(InMemoryDatabase database) {
            super(database);
        }

        @Override
        boolean isMine(Entry entry, Claim claim) {
            return !entry.released && entry.token == claim.token();
        }
    }

    static final class EndsReleasedClaimsAgain extends InMemoryIdempotencyStore {
        EndsReleasedClaimsAgain(InMemoryDatabase database) {
            super(database);
        }

        @Override
        boolean isMine(Entry entry, Claim claim) {
            return entry.claim.claimId().equals(claim.claimId());
        }
    }

    static final class RevivesEndedLeases extends InMemoryIdempotencyStore {
        RevivesEndedLeases(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public boolean extend(Claim claim, Duration leaseDuration) {
            return change(claim, entry -> true, entry -> entry.leasedUntil(now().plus(leaseDuration)));
        }
    }

    static final class RepeatsTokens extends InMemoryIdempotencyStore {
        RepeatsTokens(InMemoryDatabase database) {
            super(database);
        }

        @Override
        Claim nextClaim(ClaimRequest request, Optional<Entry> found, String proof) {
            Claim claim = super.nextClaim(request, found, proof);
            return new Claim(request, claim.claimId(), claim.attempt(), claim.attempt(), proof);
        }
    }

    static final class RunsAbandonedWorkUnasked extends InMemoryIdempotencyStore {
        RunsAbandonedWorkUnasked(InMemoryDatabase database) {
            super(database);
        }

        @Override
        Optional<ClaimOutcome> obstacle(Optional<Entry> found, ClaimRequest request, boolean locked) {
            return super.obstacle(
                    found,
                    new ClaimRequest(
                            request.id(), request.fingerprint(), request.retention(), AbandonedPolicy.RUN_AGAIN),
                    locked);
        }
    }

    static final class CountsRetentionFromCompletion extends InMemoryIdempotencyStore {
        CountsRetentionFromCompletion(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public boolean complete(Claim claim, RecordedResult result) {
            return change(
                    claim, any -> true, any -> Entry.claimed(claim, now(), null).completed(result));
        }
    }

    static final class ReleasesWhatIsCompleted extends InMemoryIdempotencyStore {
        ReleasesWhatIsCompleted(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public boolean release(Claim claim) {
            synchronized (database) {
                return entries.remove(identity(claim.request().id())) != null;
            }
        }
    }
}
