package dev.idempotency.testkit.memory;

import dev.idempotency.OutboxEvent;
import dev.idempotency.StoreConflictException;
import dev.idempotency.StoreException;
import dev.idempotency.spi.BucketLease;
import dev.idempotency.spi.ClaimingOutboxStore;
import dev.idempotency.spi.HeldKeys;
import dev.idempotency.spi.LeasedOutboxStore;
import dev.idempotency.spi.LockingOutboxStore;
import dev.idempotency.spi.LowWaterMark;
import dev.idempotency.spi.OutboxClaim;
import dev.idempotency.spi.OutboxFailure;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.OutboxRowId;
import dev.idempotency.spi.PublishedRows;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionContext;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Predicate;

/**
 * Keeps an outbox in memory, with the abilities of all three ways to relay; tests give it to outboxes and relays.
 *
 * <p>It passes the contracts of this kit. What it holds is gone with the virtual machine, so it protects nothing outside
 * a test. Its low-water mark is exact at every moment, which no real store's is, so that tests of a relay need not wait
 * for it. Where a real store would wait for another transaction, this one throws {@link StoreConflictException}. Safe for
 * use by many threads.
 */
public final class InMemoryOutboxStore implements LeasedOutboxStore, ClaimingOutboxStore, LockingOutboxStore {
    private static final int BUCKETS_PER_SLOT = OutboxEvent.BUCKETS / SLOTS;

    private final InMemoryDatabase database;

    /** Guarded by the database's monitor, as everything here. */
    private final TreeMap<Long, InMemoryOutboxRow> rows = new TreeMap<>();

    private final Map<UUID, InMemoryOutboxRow> byId = new HashMap<>();
    private final SortedSet<Long> open = new TreeSet<>();
    private final Map<Integer, Range> ranges = new TreeMap<>();
    private final Map<String, Instant> relays = new HashMap<>();
    private long lastSequence;
    private long lastToken;

    /** Who relays a range of buckets, and until when. */
    private record Range(String owner, long epoch, Instant until) {}

    /** The lock of an append that is not committed yet. */
    private record Appending(InMemoryOutboxStore store, long sequence) {}

    /** The lock of a row. */
    private record Locked(InMemoryOutboxStore store, long sequence) {}

    private InMemoryOutboxStore(InMemoryDatabase database) {
        this.database = Objects.requireNonNull(database, "database");
    }

    /**
     * Returns an empty outbox.
     *
     * @param database whose transactions it joins
     * @return the outbox
     */
    public static InMemoryOutboxStore of(InMemoryDatabase database) {
        return new InMemoryOutboxStore(database);
    }

    /**
     * Returns how many rows are in a state.
     *
     * @param status {@code PENDING}, {@code PUBLISHING}, {@code PUBLISHED} or {@code DEAD}
     * @return the number of committed rows
     */
    public int count(String status) {
        synchronized (database) {
            return (int) rows.values().stream()
                    .filter(row -> row.status.name().equals(status))
                    .count();
        }
    }

    @Override
    public Set<UUID> append(TransactionContext transaction, List<OutboxEvent> events) {
        InMemoryTransaction joined = transaction.unwrap(InMemoryTransaction.class);
        synchronized (database) {
            joined.requireRunning();
            Set<UUID> known = new HashSet<>();
            for (OutboxEvent event : events) {
                UUID id = event.eventId().orElseThrow();
                if (!database.tryLock(id, joined)) {
                    throw conflict("The event " + id + " is being appended by another transaction");
                }
                InMemoryOutboxRow present = byId.get(id);
                if (present != null && !present.isFor(event)) {
                    throw new StoreException("The outbox holds another event under the id " + id, null);
                }
                if (present != null || !joined.isFirstCompletion(id)) {
                    known.add(id);
                    continue;
                }
                InMemoryOutboxRow row = new InMemoryOutboxRow(++lastSequence, event, database.now());
                open.add(row.sequence);
                database.tryLock(new Appending(this, row.sequence), joined);
                joined.write(() -> {
                    rows.put(row.sequence, row);
                    byId.put(id, row);
                });
            }
            return known;
        }
    }

    private static StoreConflictException conflict(String what) {
        return new StoreConflictException(what + "; a real store would have waited", null);
    }

    @Override
    public LowWaterMark advance(LowWaterMark mark) {
        synchronized (database) {
            open.removeIf(sequence -> !database.isLocked(new Appending(this, sequence)));
            long visibleBelow = open.isEmpty() ? lastSequence + 1 : open.first();
            long firstLive = rows.values().stream()
                    .filter(InMemoryOutboxRow::isLive)
                    .mapToLong(row -> row.sequence)
                    .findFirst()
                    .orElse(visibleBelow);
            return new LowWaterMark(Math.min(firstLive, visibleBelow), visibleBelow, 0, 0);
        }
    }

    @Override
    public int deletePublished(Duration age, int limit) {
        synchronized (database) {
            Instant youngest = database.now().minus(age);
            List<InMemoryOutboxRow> old = rows.values().stream()
                    .filter(row -> row.isPublishedBefore(youngest))
                    .limit(limit)
                    .toList();
            old.forEach(this::delete);
            return old.size();
        }
    }

    private void delete(InMemoryOutboxRow row) {
        rows.remove(row.sequence);
        byId.remove(row.event.eventId().orElseThrow());
    }

    private List<InMemoryOutboxRow> select(OutboxQuery query, Predicate<InMemoryOutboxRow> condition) {
        List<InMemoryOutboxRow> selected = new ArrayList<>();
        long bytes = 0;
        for (InMemoryOutboxRow row : rows.tailMap(query.fromSequence()).values()) {
            if (selected.size() == query.limit() || bytes >= query.mostBytes()) {
                break;
            }
            if (row.isLive() && !query.withoutTopics().contains(row.event.topic()) && condition.test(row)) {
                selected.add(row);
                bytes += row.event.payload().map(payload -> payload.length).orElse(0);
            }
        }
        return selected;
    }

    private List<OutboxRow> handOut(List<InMemoryOutboxRow> selected) {
        Instant now = database.now();
        return selected.stream().map(row -> row.handOut(now)).toList();
    }

    private int publish(Collection<InMemoryOutboxRow> marked, PublishedRows published) {
        for (InMemoryOutboxRow row : marked) {
            if (published == PublishedRows.DELETE) {
                delete(row);
            } else {
                row.publish(database.now());
            }
        }
        return marked.size();
    }

    private Optional<InMemoryOutboxRow> find(OutboxRowId id) {
        return Optional.ofNullable(rows.get(id.sequence()))
                .filter(row -> row.event.eventId().equals(Optional.of(id.eventId())));
    }

    /** Finds those of the rows that are unfinished and fulfil the condition. */
    private List<InMemoryOutboxRow> find(List<OutboxRowId> ids, Predicate<InMemoryOutboxRow> condition) {
        return ids.stream()
                .map(this::find)
                .flatMap(Optional::stream)
                .filter(row -> row.isLive() && condition.test(row))
                .toList();
    }

    private int fail(List<OutboxFailure> failures, Predicate<InMemoryOutboxRow> condition) {
        int marked = 0;
        for (OutboxFailure failure : failures) {
            for (InMemoryOutboxRow row : find(List.of(failure.row()), condition)) {
                row.fail(failure, database.now());
                marked++;
            }
        }
        return marked;
    }

    @Override
    public OutboxClaim claim(String owner, Duration leaseDuration, OutboxQuery query) {
        synchronized (database) {
            Instant now = database.now();
            List<InMemoryOutboxRow> free = select(query, row -> row.isFree(now) && !isLocked(row));
            long token = ++lastToken;
            free.forEach(row -> row.claim(token, now.plus(leaseDuration)));
            return new OutboxClaim(token, handOut(free));
        }
    }

    @Override
    public int markPublished(long token, List<OutboxRowId> ids, PublishedRows published) {
        synchronized (database) {
            return publish(find(ids, row -> row.isClaimedUnder(token)), published);
        }
    }

    @Override
    public int markFailed(long token, List<OutboxFailure> failures) {
        synchronized (database) {
            return fail(failures, row -> row.isClaimedUnder(token));
        }
    }

    @Override
    public int release(long token, List<OutboxRowId> ids) {
        synchronized (database) {
            List<InMemoryOutboxRow> claimed = find(ids, row -> row.isClaimedUnder(token));
            claimed.forEach(InMemoryOutboxRow::release);
            return claimed.size();
        }
    }

    @Override
    public int returnExpired(int limit) {
        synchronized (database) {
            Instant now = database.now();
            List<InMemoryOutboxRow> stuck = rows.values().stream()
                    .filter(row -> row.isLive() && row.isStuck(now))
                    .limit(limit)
                    .toList();
            stuck.forEach(InMemoryOutboxRow::release);
            return stuck.size();
        }
    }

    @Override
    public int announce(String owner, Duration leaseDuration) {
        synchronized (database) {
            Instant now = database.now();
            relays.put(owner, now.plus(leaseDuration));
            relays.values().removeIf(until -> !until.isAfter(now));
            return relays.size();
        }
    }

    @Override
    public List<BucketLease> acquire(String owner, Duration leaseDuration, int most) {
        synchronized (database) {
            Instant now = database.now();
            List<BucketLease> acquired = new ArrayList<>();
            for (int slot = 0; slot < SLOTS && acquired.size() < most; slot++) {
                Range before = ranges.get(slot);
                if (before == null || !before.until().isAfter(now)) {
                    long epoch = before == null ? 1 : before.epoch() + 1;
                    ranges.put(slot, new Range(owner, epoch, now.plus(leaseDuration)));
                    int first = slot * BUCKETS_PER_SLOT;
                    acquired.add(new BucketLease(slot, first, first + BUCKETS_PER_SLOT - 1, epoch));
                }
            }
            return acquired;
        }
    }

    /** The range as this owner took it, whether or not its lease has ended: nobody has taken it since. */
    private Optional<Range> held(String owner, BucketLease lease) {
        return Optional.ofNullable(ranges.get(lease.slot()))
                .filter(range -> range.owner().equals(owner) && range.epoch() == lease.epoch());
    }

    @Override
    public List<BucketLease> extend(String owner, Collection<BucketLease> leases, Duration leaseDuration) {
        synchronized (database) {
            Instant now = database.now();
            List<BucketLease> extended = leases.stream()
                    .filter(lease -> held(owner, lease)
                            .filter(range -> range.until().isAfter(now))
                            .isPresent())
                    .toList();
            for (BucketLease lease : extended) {
                ranges.computeIfPresent(
                        lease.slot(),
                        (slot, range) ->
                                new Range(owner, range.epoch(), later(range.until(), now.plus(leaseDuration))));
            }
            return extended;
        }
    }

    private static Instant later(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }

    @Override
    public int release(String owner, Collection<BucketLease> leases) {
        synchronized (database) {
            List<BucketLease> released = leases.stream()
                    .filter(lease -> held(owner, lease).isPresent())
                    .toList();
            released.forEach(lease -> free(lease.slot()));
            return released.size();
        }
    }

    private void free(int slot) {
        ranges.computeIfPresent(slot, (same, range) -> new Range("", range.epoch(), Instant.MIN));
    }

    @Override
    public void withdraw(String owner) {
        synchronized (database) {
            relays.remove(owner);
            for (int slot = 0; slot < SLOTS; slot++) {
                Range range = ranges.get(slot);
                if (range != null && range.owner().equals(owner)) {
                    free(slot);
                }
            }
        }
    }

    @Override
    public List<OutboxRow> read(Collection<BucketLease> leases, OutboxQuery query) {
        synchronized (database) {
            return handOut(select(
                    query,
                    row -> leases.stream().anyMatch(lease -> covers(lease, row)) && !isHeld(row, query.heldKeys())));
        }
    }

    private static boolean isHeld(InMemoryOutboxRow row, HeldKeys held) {
        if (held.heads().contains(row.sequence)) {
            return false;
        }
        return row.event
                .orderingKey()
                .map(held.orderingKeys()::contains)
                .orElseGet(() -> row.event
                        .key()
                        .map(key -> held.keys().contains(ByteBuffer.wrap(key)))
                        .orElse(false));
    }

    private static boolean covers(BucketLease lease, InMemoryOutboxRow row) {
        int bucket = row.event.bucket();
        return bucket >= lease.firstBucket() && bucket <= lease.lastBucket();
    }

    private Predicate<InMemoryOutboxRow> heldBy(String owner, Collection<BucketLease> leases) {
        return row -> leases.stream()
                .anyMatch(lease -> covers(lease, row) && held(owner, lease).isPresent());
    }

    @Override
    public int markPublished(
            String owner, Collection<BucketLease> leases, List<OutboxRowId> ids, PublishedRows published) {
        synchronized (database) {
            return publish(find(ids, heldBy(owner, leases)), published);
        }
    }

    @Override
    public int markFailed(String owner, Collection<BucketLease> leases, List<OutboxFailure> failures) {
        synchronized (database) {
            return fail(failures, heldBy(owner, leases));
        }
    }

    private boolean isLocked(InMemoryOutboxRow row) {
        return database.isLocked(new Locked(this, row.sequence));
    }

    private boolean isLockedBy(InMemoryOutboxRow row, InMemoryTransaction transaction) {
        return isLocked(row) && database.tryLock(new Locked(this, row.sequence), transaction);
    }

    @Override
    public List<OutboxRow> lock(Transaction transaction, OutboxQuery query) {
        InMemoryTransaction joined = transaction.unwrap(InMemoryTransaction.class);
        synchronized (database) {
            joined.requireRunning();
            Instant now = database.now();
            List<InMemoryOutboxRow> free =
                    select(query, row -> row.isFree(now) && (!isLocked(row) || isLockedBy(row, joined)));
            free.forEach(row -> database.tryLock(new Locked(this, row.sequence), joined));
            return handOut(free);
        }
    }

    @Override
    public int markPublished(Transaction transaction, List<OutboxRowId> ids, PublishedRows published) {
        InMemoryTransaction joined = transaction.unwrap(InMemoryTransaction.class);
        synchronized (database) {
            List<InMemoryOutboxRow> locked = find(ids, row -> isLockedBy(row, joined));
            joined.write(() -> publish(locked, published));
            return locked.size();
        }
    }

    @Override
    public int markFailed(Transaction transaction, List<OutboxFailure> failures) {
        InMemoryTransaction joined = transaction.unwrap(InMemoryTransaction.class);
        synchronized (database) {
            List<OutboxFailure> locked = failures.stream()
                    .filter(failure -> !find(List.of(failure.row()), row -> isLockedBy(row, joined))
                            .isEmpty())
                    .toList();
            joined.write(() -> fail(locked, row -> true));
            return locked.size();
        }
    }
}
