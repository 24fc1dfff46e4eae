package dev.idempotency.shutdown;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * The gate that counts work in flight; adapters and applications pass it before they begin something that a shutdown
 * has to wait for. It belongs to a {@link GracefulShutdown}.
 *
 * <p>Thread-safe. Entering and leaving never block.
 */
public final class InFlight {
    private final BooleanSupplier admitting;
    private final TimeSource time;
    private final AtomicLong active = new AtomicLong();
    private final Set<Permit> open = ConcurrentHashMap.newKeySet();
    private final CountDownLatch idle = new CountDownLatch(1);

    InFlight(BooleanSupplier admitting, TimeSource time) {
        this.admitting = admitting;
        this.time = time;
    }

    /**
     * Enters, if work is still admitted.
     *
     * <p>Once {@link GracefulShutdown#acceptsWork()} has been false, no call succeeds any more. A permit that was handed
     * out before is waited for.
     *
     * @param label what is being done, for logs and the report, such as {@code POST /payments}; never a key or a payload
     * @return the permit to close at the end of the work, or empty if the work must be refused
     */
    public Optional<Permit> tryEnter(String label) {
        Objects.requireNonNull(label, "label");
        // Count first, test second: the other way round a drain could see zero between the test and the count.
        active.incrementAndGet();
        if (!admitting.getAsBoolean()) {
            decrement();
            return Optional.empty();
        }
        return Optional.of(admit(label));
    }

    /**
     * Returns how much work is in flight now.
     *
     * @return the number of permits that have not been closed, for metrics; it may be stale at once
     */
    public long active() {
        return active.get();
    }

    Permit fork(Permit parent, String label) {
        Objects.requireNonNull(label, "label");
        active.incrementAndGet();
        if (!open.contains(parent)) {
            decrement();
            throw new IllegalStateException(
                    "Cannot fork " + label + ": " + parent + " is closed. Fork before the admitted work ends.");
        }
        return admit(label);
    }

    void leave(Permit permit) {
        if (open.remove(permit)) {
            decrement();
        }
    }

    /** Waits until nothing is in flight; only to be called when nothing is admitted any more. */
    boolean awaitIdle(long untilNanos) {
        return active.get() == 0 || time.awaitUninterruptibly(idle, untilNanos);
    }

    /** Returns the open permits, the oldest first. */
    List<ShutdownReport.StillRunning> stillRunning() {
        long now = time.nanoTime();
        List<ShutdownReport.StillRunning> running = new ArrayList<>();
        for (Permit permit : open) {
            Duration age = Duration.ofNanos(now - permit.enteredNanos());
            running.add(new ShutdownReport.StillRunning(permit.label(), age, permit.threadName()));
        }
        running.sort(Comparator.comparing(ShutdownReport.StillRunning::age).reversed());
        return running;
    }

    private Permit admit(String label) {
        Permit permit = new Permit(this, label, Thread.currentThread().getName(), time.nanoTime());
        open.add(permit);
        return permit;
    }

    private void decrement() {
        // The last look has to come after the gate is known to be closed: between the count of zero and the test,
        // another
        // may have entered and the gate may have closed behind it.
        if (active.decrementAndGet() == 0 && !admitting.getAsBoolean() && active.get() == 0) {
            idle.countDown();
        }
    }
}
