package dev.idempotency;

import dev.idempotency.spi.Claim;
import dev.idempotency.spi.LeasedIdempotencyStore;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Extends the leases of running work every third of their length, from threads of its own so that long work cannot
 * miss a beat.
 *
 * <p>One thread keeps the time and others extend, so that a lease whose extension waits for a connection does not end
 * the other ones. The threads start with the first lease and end some seconds after the last.
 */
final class Heartbeat implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Heartbeat.class);

    private final LeasedIdempotencyStore store;
    private final LeaseSettings settings;
    private final NanoTicker ticker;
    /** More would only queue in a pool of connections, which rarely has as many to spare. */
    private static final int MAX_EXTENDING = 16;

    private final ScheduledThreadPoolExecutor clock;
    private final ThreadPoolExecutor extending;

    Heartbeat(LeasedIdempotencyStore store, LeaseSettings settings, NanoTicker ticker) {
        this.store = store;
        this.settings = settings;
        this.ticker = ticker;
        this.clock = new ScheduledThreadPoolExecutor(1, threads("idempotency-heartbeat"));
        clock.setRemoveOnCancelPolicy(true);
        this.extending = new ThreadPoolExecutor(
                MAX_EXTENDING,
                MAX_EXTENDING,
                10,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                threads("idempotency-lease-extension"));
        clock.setKeepAliveTime(10, TimeUnit.SECONDS);
        clock.allowCoreThreadTimeOut(true);
        extending.allowCoreThreadTimeOut(true);
    }

    private static ThreadFactory threads(String name) {
        ThreadFactory plain = Executors.defaultThreadFactory();
        return task -> {
            Thread thread = plain.newThread(task);
            thread.setName(name);
            thread.setDaemon(true);
            // Not that of the request which happens to start it: a container would take the thread for a leak of it.
            thread.setContextClassLoader(Heartbeat.class.getClassLoader());
            return thread;
        };
    }

    long nanoTime() {
        return ticker.nanoTime();
    }

    /** Keeps the claim's lease alive until the returned lease is stopped, is lost, or has lived its longest. */
    Lease keep(Claim claim, long claimedAtNanos) {
        long leaseNanos = settings.leaseDuration().toNanos();
        Lease lease = new Lease(ticker, claimedAtNanos + leaseNanos);
        long endNanos = claimedAtNanos + settings.maxLifetime().toNanos();
        AtomicBoolean beating = new AtomicBoolean();
        lease.beatWith(clock.scheduleAtFixedRate(
                () -> hand(claim, lease, endNanos, beating), leaseNanos / 3, leaseNanos / 3, TimeUnit.NANOSECONDS));
        return lease;
    }

    /** One beat of a lease at a time: while one waits for a connection the next would only wait behind it. */
    private void hand(Claim claim, Lease lease, long endNanos, AtomicBoolean beating) {
        if (beating.compareAndSet(false, true)) {
            extending.execute(() -> {
                try {
                    beat(claim, lease, endNanos);
                } finally {
                    beating.set(false);
                }
            });
        }
    }

    private void beat(Claim claim, Lease lease, long endNanos) {
        if (lease.isStopped()) {
            return;
        }
        long before = ticker.nanoTime();
        if (before - endNanos >= 0) {
            log.warn(
                    "The work of {} has run for {} and its lease is extended no longer: look for work that hangs",
                    claim.request().id(),
                    settings.maxLifetime());
            lease.stop();
            return;
        }
        try {
            if (store.extend(claim, settings.leaseDuration())) {
                lease.extendedUntil(before + settings.leaseDuration().toNanos());
            } else if (!lease.isStopped()) {
                // Of a claim that was given up meanwhile no row is left to extend, which is as it should be.
                lease.lose();
                lease.stop();
                log.warn(
                        "The lease of {} is lost: another owner may run now, and this one's result will be refused",
                        claim.request().id());
            }
        } catch (RuntimeException e) {
            // The lease still has two thirds of its length to live: the next beat tries again.
            log.info(
                    "The lease of {} could not be extended this time",
                    claim.request().id(),
                    e);
        }
    }

    @Override
    public void close() {
        clock.shutdownNow();
        extending.shutdownNow();
    }
}
