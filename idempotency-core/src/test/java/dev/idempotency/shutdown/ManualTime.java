package dev.idempotency.shutdown;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Time that only moves by {@link #advance}, and that knows until when somebody is waiting. */
final class ManualTime implements TimeSource {
    /** So near to the overflow that every default grace period crosses it. */
    private static final long START = Long.MAX_VALUE - Duration.ofSeconds(2).toNanos();

    private final List<Long> waitingUntil = new ArrayList<>();
    private long now = START;

    @Override
    public synchronized long nanoTime() {
        return now;
    }

    @Override
    public boolean await(CountDownLatch latch, long untilNanos) throws InterruptedException {
        change(untilNanos, true);
        try {
            while (!latch.await(1, MILLISECONDS)) {
                if (nanoTime() - untilNanos >= 0) {
                    return latch.getCount() == 0;
                }
            }
            return true;
        } finally {
            change(untilNanos, false);
        }
    }

    synchronized void advance(Duration duration) {
        now += duration.toNanos();
    }

    /** Blocks until a thread waits until exactly the given time since the start, then lets that time come. */
    void passOnceAwaited(Duration sinceStart) {
        awaitWaiterUntil(sinceStart);
        synchronized (this) {
            now = START + sinceStart.toNanos();
        }
    }

    /** Blocks until a thread waits until exactly the given time since the start. */
    synchronized void awaitWaiterUntil(Duration sinceStart) {
        try {
            while (!waitingUntil.contains(START + sinceStart.toNanos())) {
                wait();
            }
        } catch (InterruptedException e) {
            throw new AssertionError("nobody waits until " + sinceStart + " but until " + waits(), e);
        }
    }

    private List<Duration> waits() {
        return waitingUntil.stream()
                .map(until -> Duration.ofNanos(until - START))
                .toList();
    }

    private synchronized void change(long untilNanos, boolean begins) {
        if (begins) {
            waitingUntil.add(untilNanos);
        } else {
            waitingUntil.remove(untilNanos);
        }
        notifyAll();
    }
}
