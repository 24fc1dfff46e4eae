package dev.idempotency.event;

import dev.idempotency.shutdown.Deadline;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Phase;
import dev.idempotency.shutdown.Registration;
import dev.idempotency.spi.MarkPartitioning;
import dev.idempotency.spi.ProcessedEventStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes the marks of events that cannot be delivered again any more, in batches and short transactions of its own;
 * applications start one for each database with marks.
 *
 * <p>The marks of all consumers are in one table, so the age must suit all of them. An event that is delivered again after
 * its mark is gone runs again; therefore the job asks every {@link RedeliveryHorizon} it was given before each run, never
 * deletes what is younger than the longest of them, whatever the age says, and deletes nothing while one of them cannot tell
 * or says "for ever".
 *
 * <p>Any number of processes may run one on the same store; one of them deletes at a time. Where no clean-up runs, the table
 * only grows. Safe for use by many threads.
 */
public final class MarkCleanUp implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(MarkCleanUp.class);

    private static final String NAME = "clean-up of marks";
    private static final int MOST_BATCHES = 100;
    private static final Duration LONGEST_CLOSE = Duration.ofSeconds(20);

    private final ProcessedEventStore store;
    private final @Nullable MarkPartitioning partitions;
    private final List<RedeliveryHorizon> horizons;
    private final Duration age;
    private final Duration interval;
    private final int batch;
    private final CountDownLatch stop = new CountDownLatch(1);
    private final Thread thread;
    private final List<Registration> registrations = new CopyOnWriteArrayList<>();

    /** What was warned about last, so that a lasting state is told once and not with every run. */
    private final AtomicReference<String> warned = new AtomicReference<>("");

    private MarkCleanUp(Builder builder, ProcessedEventStore store, Duration age) {
        this.store = store;
        this.partitions = builder.partitions;
        this.horizons = List.copyOf(builder.horizons);
        this.age = age;
        this.interval = builder.interval;
        this.batch = builder.batch;
        this.thread = new Thread(this::loop, "idempotency-mark-clean-up");
        thread.setDaemon(true);
    }

    /**
     * Returns a builder with the default of every option.
     *
     * @return a new builder
     */
    public static Builder builder() {
        return new Builder();
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
                    "The batch in hand of the clean-up of marks did not end in time; it is left to roll back");
        }
    }

    /**
     * Does the job once, now, on the caller's thread.
     *
     * @return how many marks were deleted one by one, at most a hundred batches; what went with a partition is not counted
     * @throws dev.idempotency.StoreUnavailableException if the store is not there; what was deleted before stays deleted
     * @throws dev.idempotency.StoreConflictException if a statement lost against another transaction; likewise
     * @throws dev.idempotency.StoreException if a statement failed for good; likewise
     * @throws RuntimeException what a horizon throws; nothing was deleted
     */
    public int runOnce() {
        Optional<Duration> safe = safeAge();
        return safe.isEmpty() || stop.getCount() == 0 ? 0 : delete(safe.get());
    }

    private int delete(Duration safe) {
        if (partitions != null) {
            int dropped = partitions.maintain(safe);
            log.debug("The clean-up of marks dropped {} partitions", dropped);
        }
        int deleted = 0;
        for (int i = 0; i < MOST_BATCHES && stop.getCount() > 0; i++) {
            int marks = store.deleteMarks(safe, batch);
            deleted += marks;
            if (marks < batch) {
                break;
            }
        }
        return deleted;
    }

    /** The age at which no event can come again; empty if there is none. */
    private Optional<Duration> safeAge() {
        Duration safe = age;
        for (RedeliveryHorizon horizon : horizons) {
            Optional<Duration> longest = horizon.longest();
            if (longest.isEmpty()) {
                warnOnce(
                        "Events are kept for ever by their broker, so no mark is ever too old, and none is deleted. Bound"
                                + " the retention of the topics, or leave out their horizon if duplicates of old events may run");
                return Optional.empty();
            }
            if (longest.get().compareTo(safe) > 0) {
                safe = longest.get();
            }
        }
        if (safe.equals(age)) {
            warned.set("");
        } else {
            warnOnce("Marks are to be deleted after " + age + ", but events can be delivered again for " + safe
                    + ": they are kept that long. Set the age to that, or shorten the retention of the topics");
        }
        return Optional.of(safe);
    }

    private void warnOnce(String finding) {
        if (!warned.getAndSet(finding).equals(finding)) {
            log.warn(finding);
        }
    }

    private void loop() {
        try {
            while (!stop.await(pauseNanos(), TimeUnit.NANOSECONDS)) {
                runSafely();
            }
        } catch (InterruptedException e) {
            log.info("The clean-up of marks was interrupted and ends");
            Thread.currentThread().interrupt();
        }
    }

    /** At random, so that many instances do not do it at the same moment. */
    private long pauseNanos() {
        return (long) (interval.toNanos() * (0.5 + ThreadLocalRandom.current().nextDouble()));
    }

    private void runSafely() {
        try {
            int deleted = runOnce();
            log.debug("The clean-up of marks deleted {}", deleted);
        } catch (RuntimeException e) {
            log.warn("The clean-up of marks failed and tries again after {}: {}", interval, e.toString());
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
            log.warn("The clean-up of marks still runs {} after it was told to end", LONGEST_CLOSE);
        }
    }

    /** Collects the options of a {@link MarkCleanUp}. Not thread-safe. */
    public static final class Builder {
        private @Nullable ProcessedEventStore store;
        private @Nullable MarkPartitioning partitions;
        private final List<RedeliveryHorizon> horizons = new ArrayList<>();
        private @Nullable Duration age;
        private Duration interval = Duration.ofMinutes(1);
        private int batch = 1_000;

        private Builder() {}

        /**
         * Sets whose marks are deleted. Required.
         *
         * @param store the store
         * @return this builder
         */
        public Builder store(ProcessedEventStore store) {
            this.store = Objects.requireNonNull(store, "store");
            return this;
        }

        /**
         * Sets at what age marks are deleted. Required.
         *
         * @param age longer than an event of any consumer can be delivered again: the retention of the topics, the longest
         *     replay of a dead letter and the longest wait in an outbox together; at least 1 minute
         * @return this builder
         */
        public Builder age(Duration age) {
            this.age = Objects.requireNonNull(age, "age");
            return this;
        }

        /**
         * Adds somebody who knows for how long events can come again: a consumer for its topics. Without any, the age alone
         * counts.
         *
         * @param horizon the horizon
         * @return this builder
         */
        public Builder horizon(RedeliveryHorizon horizon) {
            this.horizons.add(Objects.requireNonNull(horizon, "horizon"));
            return this;
        }

        /**
         * Sets the partitions of the marks, which are looked after with each run.
         *
         * @param partitions the partitions; none by default
         * @return this builder
         */
        public Builder partitions(MarkPartitioning partitions) {
            this.partitions = Objects.requireNonNull(partitions, "partitions");
            return this;
        }

        /**
         * Sets how long the job waits between two runs, give or take a half at random.
         *
         * @param interval 1 ms to 24 h; a minute by default
         * @return this builder
         */
        public Builder interval(Duration interval) {
            this.interval = Objects.requireNonNull(interval, "interval");
            return this;
        }

        /**
         * Sets how many marks one transaction deletes at the most.
         *
         * @param marks 1 to 100,000; 1,000 by default
         * @return this builder
         */
        public Builder batch(int marks) {
            this.batch = marks;
            return this;
        }

        /**
         * Checks the options.
         *
         * @return the job, not started
         * @throws IllegalStateException if a required option is missing
         * @throws IllegalArgumentException if an option is out of range
         */
        public MarkCleanUp build() {
            if (store == null) {
                throw new IllegalStateException("The option store is required: whose marks are deleted?");
            }
            if (age == null) {
                throw new IllegalStateException("The option age is required: after how long can no event come again?");
            }
            if (age.compareTo(Duration.ofMinutes(1)) < 0) {
                throw new IllegalArgumentException("The option age must be at least 1 minute, but is " + age);
            }
            if (interval.toMillis() < 1 || interval.compareTo(Duration.ofHours(24)) > 0) {
                throw new IllegalArgumentException(
                        "The option interval must be between 1 ms and 24 h, but is " + interval);
            }
            if (batch < 1 || batch > 100_000) {
                throw new IllegalArgumentException("The option batch must be 1 to 100000, but is " + batch);
            }
            return new MarkCleanUp(this, store, age);
        }
    }
}
