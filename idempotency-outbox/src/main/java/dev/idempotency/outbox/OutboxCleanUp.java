package dev.idempotency.outbox;

import dev.idempotency.shutdown.Deadline;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Phase;
import dev.idempotency.shutdown.Registration;
import dev.idempotency.spi.ClaimingOutboxStore;
import dev.idempotency.spi.OutboxStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps an outbox tidy, beside the relays and in short transactions of its own: returns rows whose claim has ended to
 * PENDING, and deletes published rows past their retention.
 *
 * <p>Any number of processes may run one on the same outbox. Nothing is lost where none runs: relays claim rows whose
 * claim has ended themselves, and an outbox that deletes what is published has nothing to delete. Safe for use by many
 * threads.
 */
public final class OutboxCleanUp implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(OutboxCleanUp.class);

    private static final String NAME = "outbox clean-up";
    private static final int BATCH = 2_000;
    private static final int MOST_BATCHES = 50;
    private static final Duration LONGEST_CLOSE = Duration.ofSeconds(20);

    private final OutboxStore store;
    private final Duration interval;
    private final Duration retention;
    private final Signal wake = new Signal();
    private final Thread thread;
    private final @Nullable GracefulShutdown shutdown;
    private final List<Registration> registrations = new ArrayList<>();
    private volatile boolean stopped;

    private OutboxCleanUp(Builder builder) {
        this.store = builder.store;
        this.interval = builder.interval;
        this.retention = builder.retention;
        this.shutdown = builder.shutdown;
        this.thread = RelayThreads.of("clean-up", this::loop);
    }

    /**
     * Returns a builder with the default of every option.
     *
     * @param store the outbox
     * @return a new builder
     */
    public static Builder builder(OutboxStore store) {
        return new Builder(store);
    }

    /**
     * Starts the job on a thread of its own and returns.
     *
     * @throws IllegalThreadStateException if it was started before
     * @throws IllegalStateException if the application's shutdown has begun
     */
    public void start() {
        synchronized (registrations) {
            if (shutdown != null) {
                registrations.add(shutdown.on(Phase.STOP_INTAKE, NAME, deadline -> stop()));
                registrations.add(shutdown.on(Phase.DRAIN, NAME, this::awaitStopped));
            }
            thread.start();
        }
    }

    private void stop() {
        stopped = true;
        wake.raise();
    }

    private void awaitStopped(Deadline deadline) {
        if (!RelayThreads.join(thread, deadline.remaining())) {
            throw new IllegalStateException(
                    "The outbox clean-up's statement did not end in time; it is left to roll back");
        }
    }

    /**
     * Does the job once, now, on the caller's thread.
     *
     * @return what was done; at most 100,000 rows of each kind
     * @throws dev.idempotency.StoreUnavailableException if the store is not there; what was done before stays done
     * @throws dev.idempotency.StoreException if a statement failed for good; what was done before stays done
     */
    public Report runOnce() {
        int returned = 0;
        if (store instanceof ClaimingOutboxStore claims) {
            returned = inBatches(() -> claims.returnExpired(BATCH));
        }
        int deleted = inBatches(() -> store.deletePublished(retention, BATCH));
        if (returned > 0) {
            // A crash, or a relay that was paused for longer than its lease: worth an operator's look.
            log.warn("Outbox clean-up: returned {} rows to PENDING whose relay was gone", returned);
        }
        return new Report(returned, deleted);
    }

    private int inBatches(IntSupplier batch) {
        int total = 0;
        for (int i = 0; i < MOST_BATCHES && !stopped; i++) {
            int rows = batch.getAsInt();
            total += rows;
            if (rows < BATCH) {
                break;
            }
        }
        return total;
    }

    private void loop() {
        while (!stopped) {
            wake.await((long)
                    (interval.toNanos() * (0.5 + ThreadLocalRandom.current().nextDouble())));
            if (stopped) {
                return;
            }
            try {
                runOnce();
            } catch (RuntimeException | Error e) {
                log.warn("Outbox clean-up: failed, trying again after {}: {}", interval, e.toString());
                log.debug("The exception", e);
            }
        }
    }

    /** Ends the job, after the statement in hand. */
    @Override
    public void close() {
        synchronized (registrations) {
            registrations.forEach(Registration::close);
            registrations.clear();
        }
        stop();
        RelayThreads.join(thread, LONGEST_CLOSE);
    }

    /**
     * What one run did.
     *
     * @param returned rows returned from PUBLISHING to PENDING
     * @param deleted published rows deleted
     */
    public record Report(int returned, int deleted) {}

    /** Collects the options of an {@link OutboxCleanUp}; made by {@link OutboxCleanUp#builder}, used by one thread. */
    public static final class Builder {
        private final OutboxStore store;
        private Duration interval = Duration.ofMinutes(1);
        private Duration retention = Duration.ofDays(1);
        private @Nullable GracefulShutdown shutdown;

        private Builder(OutboxStore store) {
            this.store = Objects.requireNonNull(store, "store");
        }

        /**
         * Sets how long the job waits between two runs, give or take a half at random; 1 minute by default.
         *
         * @param duration 1 ms to 24 h
         * @return this builder
         * @throws IllegalArgumentException if it is out of range
         */
        public Builder interval(Duration duration) {
            if (duration.toMillis() < 1 || duration.compareTo(Duration.ofHours(24)) > 0) {
                throw new IllegalArgumentException("interval must be between 1 ms and 24 h, but is " + duration);
            }
            this.interval = duration;
            return this;
        }

        /**
         * Sets how long rows are kept after they were published; 1 day by default.
         *
         * @param duration 1 ms to 3,660 days, by the store's clock
         * @return this builder
         * @throws IllegalArgumentException if it is out of range
         */
        public Builder retention(Duration duration) {
            if (duration.toMillis() < 1 || duration.compareTo(Duration.ofDays(3_660)) > 0) {
                throw new IllegalArgumentException("retention must be between 1 ms and 3660 days, but is " + duration);
            }
            this.retention = duration;
            return this;
        }

        /**
         * Makes the job part of the application's shutdown: it begins no statement from {@code STOP_INTAKE} on and is
         * waited for in {@code DRAIN}, before the pool is closed.
         *
         * @param applicationShutdown the application's shutdown
         * @return this builder
         */
        public Builder shutdown(GracefulShutdown applicationShutdown) {
            this.shutdown = Objects.requireNonNull(applicationShutdown, "shutdown");
            return this;
        }

        /**
         * Returns the job, not started.
         *
         * @return a new job
         */
        public OutboxCleanUp build() {
            return new OutboxCleanUp(this);
        }
    }
}
