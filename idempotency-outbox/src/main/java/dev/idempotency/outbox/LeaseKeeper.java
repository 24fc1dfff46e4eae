package dev.idempotency.outbox;

import dev.idempotency.spi.BucketLease;
import dev.idempotency.spi.FencedOutboxPublisher;
import dev.idempotency.spi.LeasedOutboxStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds this relay's fair part of the bucket ranges, on a thread of its own: a long batch must not cost a lease.
 *
 * <p>The holder counts the lease's time with the monotonic clock from before the statement that renewed it, so it never
 * believes to hold a range for longer than the database does. A renewal never revives a lease that has ended.
 */
final class LeaseKeeper {
    private static final Logger log = LoggerFactory.getLogger(LeaseKeeper.class);

    private static final long LONGEST_INTERVAL_NANOS = Duration.ofSeconds(3).toNanos();
    private static final long SHORTEST_INTERVAL_NANOS = Duration.ofMillis(100).toNanos();
    private static final Duration FIRST_RETRY = Duration.ofMillis(100);

    private final LeasedOutboxStore store;
    private final RelaySettings settings;
    private final EventsInFlight inFlight;
    private final @Nullable FencedOutboxPublisher broker;
    private final Runnable changed;
    private final Signal wake = new Signal();
    private final List<BucketLease> leaving = new ArrayList<>();
    private volatile boolean stopped;
    private volatile Held held;
    private volatile LeaseSet readUnder;
    private final AtomicInteger suspicions = new AtomicInteger();
    private volatile int cleared;
    private volatile @Nullable Throwable failure;
    private int relays = 1;
    private long announcedNanos;
    private boolean announced;

    /** What is held, and until when at least. */
    record Held(LeaseSet set, long validUntilNanos) {
        boolean isEmpty() {
            return set.leases().isEmpty();
        }
    }

    /** Creates the keeper; {@code broker} is where ranges are taken over, too, null if it has nothing to do with them. */
    LeaseKeeper(
            LeasedOutboxStore store,
            RelaySettings settings,
            EventsInFlight inFlight,
            @Nullable FencedOutboxPublisher broker,
            Runnable changed) {
        this.store = store;
        this.settings = settings;
        this.inFlight = inFlight;
        this.broker = broker;
        this.changed = changed;
        // Of nothing, and a first look may take its time before the database counts as silent.
        this.held = new Held(
                setOf(List.of()),
                settings.ticker().getAsLong() + settings.leaseDuration().toNanos());
        this.readUnder = held.set();
    }

    /** Hears under which leases the loop reads from now on: everything read before has been sent or given back. */
    void readsUnder(LeaseSet set) {
        readUnder = set;
    }

    /** Returns what is held; nothing while that is in doubt. */
    Held held() {
        return suspicions.get() == cleared ? held : new Held(setOf(List.of()), held.validUntilNanos());
    }

    /**
     * Holds everything back until the leases have been looked at: a mark was fenced. Without it the same rows would be
     * read and sent again and again until the next renewal finds the leases gone.
     */
    void suspect() {
        suspicions.incrementAndGet();
        wake.raise();
    }

    /** Returns why no lease can be relied on; null while the database answers, also if others hold all of them. */
    @Nullable
    Throwable failure() {
        Throwable last = failure;
        if (last == null && settings.ticker().getAsLong() - held.validUntilNanos() >= 0) {
            return new IllegalStateException("The leases were not renewed in time: the database does not answer");
        }
        return last;
    }

    void stop() {
        stopped = true;
        wake.raise();
    }

    void run() {
        long interval = renewalNanos(settings.leaseDuration().toNanos(), settings.sendTimeNanos());
        int failures = 0;
        while (!stopped) {
            try {
                keep();
                failures = 0;
                failure = null;
            } catch (RuntimeException | Error e) {
                // The database may be another one now, or the old one without the right to write (a fail-over): what is
                // held there is in doubt until it has answered.
                suspicions.incrementAndGet();
                failure = e;
                settings.listener().leases(0, 0);
                failures++;
                log.warn("Relay {}: leases were not renewed, trying again: {}", settings.name(), e.toString());
                log.debug("The exception", e);
            }
            wake.await(
                    failures > 0
                            ? retryNanos(failures, interval)
                            : (long) (interval * (0.75 + settings.random().getAsDouble() / 4)));
        }
    }

    /** Sooner than the next renewal, because nothing is sent until then. */
    private static long retryNanos(int failures, long interval) {
        return RetryPolicy.exponential(
                        FIRST_RETRY, Duration.ofNanos(Math.max(interval, FIRST_RETRY.toNanos())), failures)
                .toNanos();
    }

    /**
     * How often leases are renewed: before what is left is too short for a send. A lease that is hardly longer than a send
     * would otherwise be good for sending only for a moment after each renewal, and events would leave in bursts.
     */
    static long renewalNanos(long leaseNanos, long sendTimeNanos) {
        long usual = Math.min(leaseNanos / 3, LONGEST_INTERVAL_NANOS);
        return Math.max(SHORTEST_INTERVAL_NANOS, Math.min(usual, (leaseNanos - sendTimeNanos) / 2));
    }

    /** Gives everything back; called once {@link #run} has returned. */
    void giveUp() {
        held = new Held(setOf(List.of()), settings.ticker().getAsLong());
        settings.listener().leases(0, 0);
        store.withdraw(settings.owner());
    }

    private void keep() {
        int doubts = suspicions.get();
        announce();
        // From here on, and not from before the announcement: on a busy machine each statement costs time to send in.
        long begin = settings.ticker().getAsLong();
        Held before = held;
        List<BucketLease> kept = new ArrayList<>(before.set().leases());
        int lost = 0;
        if (!kept.isEmpty()) {
            kept = new ArrayList<>(store.extend(settings.owner(), kept, settings.leaseDuration()));
            lost = before.set().leases().size() - kept.size();
            if (lost > 0) {
                log.warn(
                        "Relay {}: lost the leases of {} bucket ranges; another relay sends their events again if their"
                                + " marks are missing",
                        settings.name(),
                        lost);
            }
        }
        int fairShare = Math.max(1, (LeasedOutboxStore.SLOTS + relays - 1) / relays);
        while (kept.size() > fairShare) {
            leaving.add(kept.remove(kept.size() - 1));
        }
        if (kept.size() < fairShare) {
            kept.addAll(store.acquire(settings.owner(), settings.leaseDuration(), fairShare - kept.size()));
        }
        takeOver(before.set().leases(), kept);
        kept.sort(Comparator.comparingInt(BucketLease::slot));
        // An unchanged set keeps its identity: whoever reads under it goes on where it was.
        boolean same = kept.equals(before.set().leases());
        held = new Held(
                same ? before.set() : setOf(kept),
                begin + settings.leaseDuration().toNanos());
        settings.listener().leases(kept.size(), lost);
        boolean doubted = cleared != doubts;
        cleared = doubts;
        if (!same) {
            log.info(
                    "Relay {}: holds {} of {} bucket ranges, {} relays are known",
                    settings.name(),
                    kept.size(),
                    LeasedOutboxStore.SLOTS,
                    relays);
        }
        if (!same || doubted) {
            changed.run();
        }
        releaseLeaving();
    }

    /** Nothing of a range is sent before the broker refuses its former holders. */
    private void takeOver(List<BucketLease> before, List<BucketLease> kept) {
        if (broker == null) {
            return;
        }
        for (BucketLease lease : before) {
            if (!kept.contains(lease) && !leaving.contains(lease)) {
                broker.leave(lease.slot());
            }
        }
        for (int i = 0; i < kept.size(); i++) {
            try {
                broker.takeOver(kept.get(i).slot());
            } catch (RuntimeException e) {
                // Each of the others would wait as long, and the lease does not.
                List<BucketLease> refused = kept.subList(i, kept.size());
                log.warn(
                        "Relay {}: {} bucket ranges were not taken over at the broker and are given back: {}",
                        settings.name(),
                        refused.size(),
                        e.toString());
                refused.forEach(lease -> broker.leave(lease.slot()));
                store.release(settings.owner(), List.copyOf(refused));
                refused.clear();
            }
        }
    }

    private void announce() {
        long now = settings.ticker().getAsLong();
        long interval = Math.min(settings.leaseDuration().toNanos() / 3, LONGEST_INTERVAL_NANOS);
        if (!announced || now - announcedNanos >= interval / 2) {
            relays = store.announce(settings.owner(), settings.leaseDuration());
            announcedNanos = now;
            announced = true;
        }
    }

    /** Gives surplus ranges back once nothing of theirs is on its way; the next holder would send it again. */
    private void releaseLeaving() {
        if (leaving.isEmpty()) {
            return;
        }
        List<BucketLease> still = store.extend(settings.owner(), leaving, settings.leaseDuration());
        boolean handedOver = readUnder == held.set();
        List<BucketLease> quiet = still.stream()
                .filter(lease -> handedOver
                        && !inFlight.any(sent -> sent.row().bucket() >= lease.firstBucket()
                                && sent.row().bucket() <= lease.lastBucket()))
                .toList();
        if (!quiet.isEmpty()) {
            if (broker != null) {
                quiet.forEach(lease -> broker.leave(lease.slot()));
            }
            store.release(settings.owner(), quiet);
        }
        leaving.clear();
        leaving.addAll(still);
        leaving.removeAll(quiet);
    }

    private LeaseSet setOf(List<BucketLease> leases) {
        return new LeaseSet(store, settings.owner(), settings.publishedRows(), leases);
    }
}
