package dev.idempotency.testkit.memory;

import dev.idempotency.ClaimLostException;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.Scope;
import dev.idempotency.TransactionLostException;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.spi.LeasedIdempotencyStore;
import dev.idempotency.spi.TransactionalIdempotencyStore;
import dev.idempotency.transaction.Transaction;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the records of operations in memory, with both protections; tests give it to {@link
 * dev.idempotency.Idempotency}.
 *
 * <p>It passes the contracts of this kit. What it holds is gone with the virtual machine, so it protects nothing outside
 * a test. Safe for use by many threads.
 */
public class InMemoryIdempotencyStore implements TransactionalIdempotencyStore, LeasedIdempotencyStore {
    private static final Duration RETRY_AFTER = Duration.ofSeconds(1);

    final InMemoryDatabase database;

    /** Guarded by the database's monitor, as everything here. */
    final Map<Object, Entry> entries = new HashMap<>();

    /** Not for extension by others: the kit's own tests break single rules in subclasses. */
    InMemoryIdempotencyStore(InMemoryDatabase database) {
        this.database = Objects.requireNonNull(database, "database");
    }

    /**
     * Returns an empty store.
     *
     * @param database whose transactions it joins
     * @return the store
     */
    public static InMemoryIdempotencyStore of(InMemoryDatabase database) {
        return new InMemoryIdempotencyStore(database);
    }

    @Override
    public ClaimOutcome claim(Transaction transaction, ClaimRequest request) {
        InMemoryTransaction joined = transaction.unwrap(InMemoryTransaction.class);
        synchronized (database) {
            joined.requireRunning();
            boolean locked = database.tryLock(identity(request.id()), joined);
            Optional<Entry> entry = find(request.id());
            Optional<ClaimOutcome> obstacle = obstacle(entry, request, locked);
            if (obstacle.isPresent()) {
                return obstacle.get();
            }
            return new ClaimOutcome.Acquired(nextClaim(request, entry, Long.toString(joined.id())));
        }
    }

    @Override
    public void complete(Transaction transaction, Claim claim, RecordedResult result) {
        InMemoryTransaction joined = transaction.unwrap(InMemoryTransaction.class);
        synchronized (database) {
            joined.requireRunning();
            if (!claim.transactionProof().equals(Long.toString(joined.id()))) {
                throw new TransactionLostException("The claim was made in another transaction: roll back", null);
            }
            Object identity = identity(claim.request().id());
            if (!joined.isFirstCompletion(identity)
                    || !isReplaceable(find(claim.request().id()), claim)) {
                throw new ClaimLostException("Somebody else's record stands in the place: roll back", null);
            }
            Entry completed = Entry.claimed(claim, now(), null).completed(result);
            joined.write(() -> entries.put(identity, completed));
        }
    }

    @Override
    public ClaimOutcome claim(ClaimRequest request, Duration leaseDuration) {
        checkLease(leaseDuration);
        synchronized (database) {
            Object identity = identity(request.id());
            Optional<Entry> entry = find(request.id());
            Optional<ClaimOutcome> obstacle = obstacle(entry, request, !database.isLocked(identity));
            if (obstacle.isPresent()) {
                return obstacle.get();
            }
            Claim claim = nextClaim(request, entry, "");
            entries.put(identity, Entry.claimed(claim, now(), now().plus(leaseDuration)));
            return new ClaimOutcome.Acquired(claim);
        }
    }

    /** Claims again for a caller whose claim's commit got no answer: it is his if it stands there (DESIGN rule T6). */
    ClaimOutcome claimAgain(ClaimRequest request, Duration leaseDuration, Claim unknown) {
        synchronized (database) {
            return find(request.id())
                    .filter(entry -> isMine(entry, unknown))
                    .<ClaimOutcome>map(entry -> new ClaimOutcome.Acquired(unknown))
                    .orElseGet(() -> claim(request, leaseDuration));
        }
    }

    @Override
    public boolean extend(Claim claim, Duration leaseDuration) {
        checkLease(leaseDuration);
        return change(claim, entry -> entry.isLive(now()), entry -> entry.leasedUntil(now().plus(leaseDuration)));
    }

    @Override
    public boolean complete(Claim claim, RecordedResult result) {
        synchronized (database) {
            Entry entry = entries.get(identity(claim.request().id()));
            if (entry != null && isMine(entry, claim) && entry.result != null) {
                return true;
            }
            return change(claim, any -> true, claimed -> claimed.completed(result));
        }
    }

    @Override
    public boolean release(Claim claim) {
        return change(claim, any -> true, Entry::released);
    }

    @Override
    public boolean forget(RecordId id) {
        synchronized (database) {
            Object identity = identity(id);
            Entry entry = entries.get(identity);
            if (entry == null || entry.isLive(now()) || database.isLocked(identity)) {
                return false;
            }
            entries.remove(identity);
            return true;
        }
    }

    @Override
    public int forgetCaller(Scope caller, int limit) {
        byte[] digest = caller.callerDigest();
        return remove(limit, entry -> Arrays.equals(entry.callerDigest(), digest));
    }

    @Override
    public int deleteExpired(int limit) {
        return remove(limit, entry -> !entry.expiresAt.isAfter(now()));
    }

    int remove(int limit, Predicate<Entry> chosen) {
        if (limit < 1 || limit > 10_000) {
            throw new IllegalArgumentException("The limit must be between 1 and 10000, but is " + limit);
        }
        synchronized (database) {
            var identities = entries.entrySet().stream()
                    .filter(entry -> chosen.test(entry.getValue()) && isRemovable(entry.getKey(), entry.getValue()))
                    .limit(limit)
                    .map(Map.Entry::getKey)
                    .toList();
            identities.forEach(entries::remove);
            return identities.size();
        }
    }

    boolean isRemovable(Object identity, Entry entry) {
        return !entry.isLive(now()) && !database.isLocked(identity);
    }

    /** What makes two records the same one. */
    Object identity(RecordId id) {
        return id;
    }

    boolean isAbsent(Entry entry) {
        return !entry.expiresAt.isAfter(now()) && !entry.isLive(now());
    }

    boolean isMine(Entry entry, Claim claim) {
        return !entry.released && entry.claim.claimId().equals(claim.claimId()) && entry.token == claim.token();
    }

    Instant now() {
        return database.now();
    }

    final Optional<Entry> find(RecordId id) {
        return Optional.ofNullable(entries.get(identity(id)));
    }

    /** What keeps the request from running, if anything does. */
    Optional<ClaimOutcome> obstacle(Optional<Entry> found, ClaimRequest request, boolean locked) {
        Optional<ClaimOutcome> busy = locked ? Optional.empty() : Optional.of(new ClaimOutcome.InProgress(RETRY_AFTER));
        if (found.isEmpty() || isAbsent(found.get())) {
            return busy;
        }
        Entry entry = found.get();
        if (!entry.claim.request().fingerprint().matches(request.fingerprint())) {
            return Optional.of(new ClaimOutcome.Mismatch());
        }
        if (entry.result != null) {
            return Optional.of(new ClaimOutcome.Completed(entry.result));
        }
        if (entry.isLive(now())) {
            return Optional.of(new ClaimOutcome.InProgress(retryAfter(entry)));
        }
        return request.abandoned() == AbandonedPolicy.REPORT_UNKNOWN ? Optional.of(new ClaimOutcome.Abandoned()) : busy;
    }

    private Duration retryAfter(Entry entry) {
        Duration remaining = entry.leaseUntil == null ? Duration.ZERO : Duration.between(now(), entry.leaseUntil);
        return remaining.compareTo(RETRY_AFTER) < 0 ? remaining : RETRY_AFTER;
    }

    Claim nextClaim(ClaimRequest request, Optional<Entry> found, String proof) {
        long micros = ChronoUnit.MICROS.between(Instant.EPOCH, now());
        UUID claimId = UUID.randomUUID();
        if (found.isEmpty()) {
            return new Claim(request, claimId, micros, 1, proof);
        }
        Entry entry = found.get();
        int attempt = isAbsent(entry) ? 1 : entry.claim.attempt() + 1;
        return new Claim(request, claimId, Math.max(entry.token + 1, micros), attempt, proof);
    }

    boolean isReplaceable(Optional<Entry> found, Claim claim) {
        return found.isEmpty()
                || isAbsent(found.get())
                || (found.get().result == null
                        && !found.get().isLive(now())
                        && found.get().token < claim.token()
                        && claim.attempt() > 1);
    }

    /** Changes the entry that a claim with a lease owns, and tells whether it still did. */
    boolean change(Claim claim, Predicate<Entry> condition, UnaryOperator<Entry> change) {
        synchronized (database) {
            Object identity = identity(claim.request().id());
            Entry entry = entries.get(identity);
            if (entry == null || !isMine(entry, claim) || entry.result != null || !condition.test(entry)) {
                return false;
            }
            entries.put(identity, change.apply(entry));
            return true;
        }
    }

    private static void checkLease(Duration leaseDuration) {
        if (leaseDuration.toMillis() < 1000 || leaseDuration.compareTo(Duration.ofHours(24)) > 0) {
            throw new IllegalArgumentException("A lease must be between 1 s and 24 h, but is " + leaseDuration);
        }
    }

    /** One record. */
    static final class Entry {
        final Claim claim;
        final long token;
        final Instant expiresAt;
        final @Nullable Instant leaseUntil;
        final @Nullable RecordedResult result;
        final boolean released;

        private Entry(
                Claim claim,
                Instant expiresAt,
                @Nullable Instant leaseUntil,
                @Nullable RecordedResult result,
                boolean released) {
            this.claim = claim;
            this.token = claim.token();
            this.expiresAt = expiresAt;
            this.leaseUntil = leaseUntil;
            this.result = result;
            this.released = released;
        }

        static Entry claimed(Claim claim, Instant now, @Nullable Instant leaseUntil) {
            return new Entry(claim, now.plus(claim.request().retention()), leaseUntil, null, false);
        }

        Entry leasedUntil(Instant until) {
            return new Entry(claim, expiresAt, until, result, released);
        }

        Entry completed(RecordedResult answer) {
            return new Entry(claim, expiresAt, null, answer, false);
        }

        Entry released() {
            return new Entry(claim, Instant.EPOCH, Instant.EPOCH, null, true);
        }

        boolean isLive(Instant now) {
            return result == null && leaseUntil != null && leaseUntil.isAfter(now);
        }

        byte[] callerDigest() {
            return claim.request().id().scope().callerDigest();
        }
    }
}
