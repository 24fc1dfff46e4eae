package dev.idempotency.outbox;

import dev.idempotency.spi.FencedOutboxPublisher;
import dev.idempotency.spi.HeldKeys;
import dev.idempotency.spi.LeasedOutboxStore;
import dev.idempotency.spi.LowWaterMark;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Reads the rows of the leased bucket ranges with a cursor.
 *
 * <p>The rows are the truth and the cursor is only a hint: it returns to the low-water mark whenever it reaches the end,
 * every second besides, and whenever rows that it has passed over may go on. Where order is kept it never reads past the
 * part of the table that is known to be visible without reading, in the same statement, all of the rest that lies
 * before: two pages are two snapshots, and a row that became visible between them may come before one of the second page.
 *
 * <p>A row that is passed over holds its key until it has been read again. So nothing but the cursor, on its way through
 * the rows in their order, lets a key go on, and never while a batch is in hand.
 */
final class LeaseSource implements EventSource {
    private static final long SWEEP_NANOS = Duration.ofSeconds(1).toNanos();
    private static final int LONGEST_PAGE = 10_000;

    /** A page may hold this many times the bytes that may be on their way: what was passed over before is read again. */
    private static final int LARGEST_PAGES = 4;

    /** How many keys are left out of a read at most: the statement has two parameters for each. */
    private static final int MOST_KEYS_LEFT_OUT = 100;

    private final LeasedOutboxStore store;
    private final RelaySettings settings;
    private final EventsInFlight inFlight;
    private final WaterGauge gauge;
    private final LeaseKeeper keeper;
    private final Thread keeperThread;

    private final Runnable nudge;
    private final boolean fencing;

    /** The first event of each key that was passed over, under KEY; later ones wait behind it. */
    private final Map<Object, Long> heads = new ConcurrentHashMap<>();

    /** Set when a key may go on: by the next read, which begins again. */
    private final AtomicBoolean sweepWanted = new AtomicBoolean();

    /** Held keys whose rows would fill the page, with their heads: all but those are left out. Used by the loop alone. */
    private final Map<Object, Long> leftOut = new HashMap<>();

    private Set<String> restingTopics = Set.of();
    private int passedOver;
    private long passedOverBytes;
    private LeaseSet readUnder;
    private long position;

    /** Below this number the last read saw every row there will ever be. */
    private long completeBelow;

    private long lastSweepNanos;

    LeaseSource(
            LeasedOutboxStore store,
            RelaySettings settings,
            EventsInFlight inFlight,
            @Nullable FencedOutboxPublisher broker,
            Runnable nudge) {
        this.store = store;
        this.settings = settings;
        this.inFlight = inFlight;
        this.nudge = nudge;
        this.fencing = broker != null;
        this.gauge = new WaterGauge(store, settings.ticker());
        this.keeper = new LeaseKeeper(store, settings, inFlight, broker, nudge);
        this.keeperThread = RelayThreads.of(settings.name() + "-leases", keeper::run);
        this.readUnder = keeper.held().set();
    }

    @Override
    public void start() {
        keeperThread.start();
    }

    @Override
    public @Nullable Pass relay(int limit, Set<String> withoutTopics, Sender sender) {
        Batch batch = next(limit, withoutTopics);
        return batch == null ? null : Pass.of(batch, sender);
    }

    @Override
    public @Nullable Throwable failure() {
        return keeper.failure();
    }

    @Override
    public boolean marksBeside() {
        return true;
    }

    private @Nullable Batch next(int limit, Set<String> withoutTopics) {
        LeaseKeeper.Held held = keeper.held();
        keeper.readsUnder(held.set());
        long now = settings.ticker().getAsLong();
        long sendUntil = held.validUntilNanos() - settings.sendTimeNanos();
        if (held.isEmpty() || now - sendUntil >= 0) {
            return null;
        }
        LowWaterMark mark = gauge.read();
        if (gauge.isFullLookDue()) {
            mark = lookBelow(held.set(), mark);
        }
        // Each of these lets rows go on that the cursor has passed, so it has to meet them first.
        boolean otherLeases = held.set() != readUnder;
        boolean topicsReturn = !withoutTopics.containsAll(restingTopics);
        readUnder = held.set();
        restingTopics = Set.copyOf(withoutTopics);
        if (sweepWanted.getAndSet(false) || otherLeases || topicsReturn || now - lastSweepNanos >= SWEEP_NANOS) {
            sweep(mark, now);
        }
        long before = position;
        position = Math.max(position, mark.firstLive());
        if (settings.ordering() == Ordering.KEY) {
            position = Math.min(position, Math.max(completeBelow, mark.firstLive()));
        }
        // Rows that are known already must not crowd out those that are not.
        boolean again = position < before || position == mark.firstLive();
        int known = again ? inFlight.count() + passedOver : 0;
        long knownBytes = again ? inFlight.bytes() + passedOverBytes : 0;
        int page = Math.min(LONGEST_PAGE, limit + known);
        long pageBytes = Math.min(LARGEST_PAGES * settings.mostBytesInFlight(), inFlight.roomBytes() + knownBytes);
        OutboxQuery query = new OutboxQuery(position, page, pageBytes, withoutTopics, heldKeys());
        inFlight.readBegins();
        long begin = settings.ticker().getAsLong();
        List<OutboxRow> rows = store.read(held.set().leases(), query);
        settings.listener().read(rows.size(), Duration.ofNanos(settings.ticker().getAsLong() - begin));
        completeBelow = mark.visibleBelow();
        gauge.rowsSeen(rows);
        return select(rows, held.set(), sendUntil, limit, query, before);
    }

    /** Looks for a row below the mark, where none can be, and believes in no mark if there is one. */
    private LowWaterMark lookBelow(LeaseSet set, LowWaterMark mark) {
        if (!gauge.rowsSeen(store.read(set.leases(), new OutboxQuery(0, 1, Set.of())))) {
            return mark;
        }
        completeBelow = 0;
        sweepWanted.set(true);
        return gauge.read();
    }

    private HeldKeys heldKeys() {
        Set<String> orderingKeys = new HashSet<>();
        Set<ByteBuffer> keys = new HashSet<>();
        for (Object key : leftOut.keySet()) {
            if (key instanceof ByteBuffer bytes) {
                keys.add(bytes);
            } else {
                orderingKeys.add((String) key);
            }
        }
        return leftOut.isEmpty() ? HeldKeys.none() : new HeldKeys(Set.copyOf(leftOut.values()), orderingKeys, keys);
    }

    private Batch select(
            List<OutboxRow> rows, LeaseSet set, long sendUntil, int limit, OutboxQuery query, long before) {
        List<OutboxRow> fresh = new ArrayList<>(Math.min(rows.size(), limit));
        long nextDue = Long.MAX_VALUE;
        boolean whole = true;
        passedOver = 0;
        passedOverBytes = 0;
        Map<Object, Long> blocked = new LinkedHashMap<>();
        for (OutboxRow row : rows) {
            if (fresh.size() == limit) {
                whole = false;
                break;
            }
            position = row.sequence() + 1;
            Sent known = inFlight.find(row.id());
            if (known != null) {
                if (known.isFailed()) {
                    hold(row);
                }
            } else if (!row.dueIn().isZero()) {
                nextDue = Math.min(nextDue, row.dueIn().toNanos());
                hold(row);
                passOver(row);
            } else if (maySend(row)) {
                // Whatever of its key was passed over lies behind it, and the cursor comes to it next.
                unhold(row);
                fresh.add(row);
            } else {
                passOver(row);
                noteBlocked(row, blocked);
            }
        }
        boolean atEnd = whole && !Pages.isFull(rows, query);
        boolean letGoOn = letGoOn(query.fromSequence(), atEnd);
        boolean crowded = whole && !atEnd && completeBelow <= query.fromSequence() && leaveOut(blocked);
        // A page of rows that are all known and all have to wait is no reason to look again at once.
        boolean more = (!atEnd && position > before) || letGoOn || crowded;
        if (atEnd) {
            sweepWanted.set(true);
        }
        return new Batch(fresh, set, sendUntil, more, nextDue);
    }

    private void noteBlocked(OutboxRow row, Map<Object, Long> blocked) {
        Object key = orderOf(row);
        Long head = key == null ? null : heads.get(key);
        if (key != null && head != null) {
            blocked.putIfAbsent(key, head);
        }
    }

    /** Leaves these keys out from now on, because their rows have filled a page that begins again where it began. */
    private boolean leaveOut(Map<Object, Long> blocked) {
        int before = leftOut.size();
        blocked.forEach((key, head) -> {
            if (leftOut.size() < MOST_KEYS_LEFT_OUT) {
                leftOut.put(key, head);
            }
        });
        return leftOut.size() > before;
    }

    /** Asks again for the keys that were left out and whose head, by this look, holds them no more. */
    private boolean letGoOn(long from, boolean atEnd) {
        boolean some = leftOut.entrySet()
                .removeIf(entry -> entry.getValue() >= from
                        && (atEnd || entry.getValue() < position)
                        && !entry.getValue().equals(heads.get(entry.getKey())));
        if (some) {
            sweepWanted.set(true);
        }
        return some;
    }

    private void passOver(OutboxRow row) {
        passedOver++;
        passedOverBytes += Pages.payloadBytes(row);
    }

    /** Begins again at the low-water mark; the heads of waiting keys are met first, so they need not be remembered. */
    private void sweep(LowWaterMark mark, long now) {
        position = mark.firstLive();
        lastSweepNanos = now;
        heads.clear();
    }

    @Override
    public void giveBack(Batch batch, List<OutboxRow> unsent) {
        position = Math.min(position, unsent.get(0).sequence());
    }

    /** Leases that are only in doubt count as lost: a row that was passed over meanwhile is not read before the next. */
    @Override
    public boolean isInForce(Batch batch) {
        return keeper.held().set() == batch.fence();
    }

    @Override
    public boolean maySend(OutboxRow row) {
        Object key = orderOf(row);
        Long head = key == null ? null : heads.get(key);
        return head == null || row.sequence() <= head;
    }

    @Override
    public void failed(Sent event) {
        hold(event.row());
        if (fencing && event.isFatal()) {
            // The broker may have refused this relay for a range that is no longer its own.
            keeper.suspect();
        }
    }

    @Override
    public void dead(Sent event) {
        // The key stays held until then: of its later rows some were passed over, and some may be in hand.
        sweepWanted.set(true);
        nudge.run();
    }

    private void hold(OutboxRow row) {
        Object key = orderOf(row);
        if (key != null) {
            heads.merge(key, row.sequence(), Math::min);
        }
    }

    private void unhold(OutboxRow row) {
        Object key = orderOf(row);
        if (key != null) {
            heads.remove(key, row.sequence());
        }
    }

    /** Returns what the row must stay in order with, or null if nothing. */
    private @Nullable Object orderOf(OutboxRow row) {
        if (settings.ordering() == Ordering.NONE) {
            return null;
        }
        if (row.event().orderingKey().isPresent()) {
            return row.event().orderingKey().get();
        }
        return row.event().key().map(ByteBuffer::wrap).orElse(null);
    }

    @Override
    public void fenced() {
        keeper.suspect();
    }

    @Override
    public void reset() {
        gauge.reset();
        position = 0;
        completeBelow = 0;
        heads.clear();
        leftOut.clear();
    }

    @Override
    public void stop(Duration timeout) {
        keeper.stop();
        RelayThreads.join(keeperThread, timeout);
        keeper.giveUp();
    }
}
