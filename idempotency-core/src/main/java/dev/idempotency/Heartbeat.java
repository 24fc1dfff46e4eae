package dev.idempotency;

import dev.idempotency.spi.Claim;
import dev.idempotency.spi.LeasedIdempotencyStore;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Extends the leases of running work every third of their length, from a thread of its own so that long work cannot
 * miss a beat.
 *
 * <p>The thread starts with the first lease and ends some seconds after the last.
 */
final class Heartbeat implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Heartbeat.class);

    private final LeasedIdempotencyStore store;
    private final LeaseSettings settings;
    private final NanoTicker ticker;
    private final ScheduledThreadPoolExecutor executor;

    Heartbeat(LeasedIdempotencyStore store, LeaseSettings settings, NanoTicker ticker) {
        this.store = store;
        this.settings = settings;
        this.ticker = ticker;
        this.executor = new ScheduledThreadPoolExecutor(1, threads());
        executor.setRemoveOnCancelPolicy(true);
        executor.setKeepAliveTime(10, TimeUnit.SECONDS);
        executor.allowCoreThreadTimeOut(true);
    }

    private static ThreadFactory threads() {
        ThreadFactory plain = Executors.defaultThreadFactory();
        return task -> {
            Thread thread = plain.newThread(task);
            thread.setName("idempotency-heartbeat");
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
        lease.beatWith(executor.scheduleWithFixedDelay(
                () -> beat(claim, lease, endNanos), leaseNanos / 3, leaseNanos / 3, TimeUnit.NANOSECONDS));
        return lease;
    }

    private void beat(Claim claim, Lease lease, long endNanos) {
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
            } else {
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
        executor.shutdownNow();
    }
}
