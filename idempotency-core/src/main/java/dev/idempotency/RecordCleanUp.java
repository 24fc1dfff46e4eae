package dev.idempotency;

import dev.idempotency.shutdown.Deadline;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Phase;
import dev.idempotency.shutdown.Registration;
import dev.idempotency.spi.IdempotencyStore;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes the records of operations that are past their retention, in batches and short transactions of its own;
 * applications start one beside {@link Idempotency}.
 *
 * <p>Any number of processes may run one on the same store. A record that is claimed right now is never deleted, and one
 * that has expired is treated the same whether it was swept or not: it counts as absent, or, where the store keeps tombstones,
 * its key is refused until the tombstone ends, and the sweep takes first the answer and at that end the rest. Where no clean-up
 * runs, the table only grows. Safe for use by many threads.
 */
public final class RecordCleanUp implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(RecordCleanUp.class);

    private static final String NAME = "record clean-up";
    private static final int BATCH = 1_000;
    private static final int MOST_BATCHES = 100;
    private static final Duration LONGEST_CLOSE = Duration.ofSeconds(20);

    private final IdempotencyStore store;
    private final Duration interval;
    private final CountDownLatch stop = new CountDownLatch(1);
    private final Thread thread;
    private final List<Registration> registrations = new CopyOnWriteArrayList<>();

    private RecordCleanUp(IdempotencyStore store, Duration interval) {
        this.store = Objects.requireNonNull(store, "store");
        if (interval.toMillis() < 1 || interval.compareTo(Duration.ofHours(24)) > 0) {
            throw new IllegalArgumentException("interval must be between 1 ms and 24 h, but is " + interval);
        }
        this.interval = interval;
        this.thread = new Thread(this::loop, "idempotency-clean-up");
        thread.setDaemon(true);
    }

    /**
     * Returns a job that runs about every minute, not started.
     *
     * @param store the records
     * @return a new job
     */
    public static RecordCleanUp of(IdempotencyStore store) {
        return of(store, Duration.ofMinutes(1));
    }

    /**
     * Returns a job, not started.
     *
     * @param store the records
     * @param interval how long it waits between two runs, give or take a half at random; 1 ms to 24 h
     * @return a new job
     * @throws IllegalArgumentException if the interval is out of range
     */
    public static RecordCleanUp of(IdempotencyStore store, Duration interval) {
        return new RecordCleanUp(store, interval);
    }

    /**
     * Starts the job on a daemon thread of its own and returns.
     *
     * @throws IllegalThreadStateException if it was started before
     */
    public void start() {
        thread.start();
    }

    /**
     * Starts the job as part of the application's shutdown: it begins no batch from {@code STOP_INTAKE} on and is waited
     * for in {@code DRAIN}, before the pool is closed.
     *
     * @param shutdown the application's shutdown
     * @throws IllegalStateException if the shutdown has begun; the job is not started
     * @throws IllegalThreadStateException if it was started before
     */
    public void start(GracefulShutdown shutdown) {
        registrations.add(shutdown.on(Phase.STOP_INTAKE, NAME, deadline -> stop.countDown()));
        registrations.add(shutdown.on(Phase.DRAIN, NAME, this::awaitEnd));
        start();
    }

    private void awaitEnd(Deadline deadline) throws InterruptedException {
        thread.join(Math.max(1, deadline.remaining().toMillis()));
        if (thread.isAlive()) {
            throw new IllegalStateException(
                    "The batch in hand of the clean-up of records did not end in time; it is left to roll back");
        }
    }

    /**
     * Does the job once, now, on the caller's thread.
     *
     * @return how many records were deleted or became tombstones; at most 100,000
     * @throws StoreUnavailableException if the store is not there; what was deleted before stays deleted
     * @throws StoreConflictException if a statement lost against another transaction; likewise
     * @throws StoreException if a statement failed for good; likewise
     */
    public int runOnce() {
        int swept = 0;
        for (int batch = 0; batch < MOST_BATCHES && stop.getCount() > 0; batch++) {
            int rows = store.deleteExpired(BATCH);
            swept += rows;
            if (rows < BATCH) {
                break;
            }
        }
        return swept;
    }

    private void loop() {
        try {
            while (!stop.await(pauseNanos(), TimeUnit.NANOSECONDS)) {
                runSafely();
            }
        } catch (InterruptedException e) {
            log.info("The clean-up of records was interrupted and ends");
            Thread.currentThread().interrupt();
        }
    }

    /** At random, so that many instances do not do it at the same moment. */
    private long pauseNanos() {
        return (long) (interval.toNanos() * (0.5 + ThreadLocalRandom.current().nextDouble()));
    }

    private void runSafely() {
        try {
            int swept = runOnce();
            log.debug("The clean-up of records deleted, or made tombstones of, {}", swept);
        } catch (RuntimeException e) {
            log.warn("The clean-up of records failed and tries again after {}: {}", interval, e.toString());
            log.debug("The exception", e);
        }
    }

    /** Ends the job after the batch in hand; the second call only waits for that too. */
    @Override
    public void close() {
        registrations.forEach(Registration::close);
        stop.countDown();
        try {
            thread.join(LONGEST_CLOSE.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive()) {
            log.warn("The clean-up of records still runs {} after it was told to end", LONGEST_CLOSE);
        }
    }
}
