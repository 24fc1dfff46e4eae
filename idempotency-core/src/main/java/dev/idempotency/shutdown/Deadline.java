package dev.idempotency.shutdown;

import java.time.Duration;
import java.util.Objects;

/**
 * A fixed instant on the monotonic clock by which something has to be done; handed to every {@link ShutdownTask}.
 *
 * <p>Pass it on rather than a duration, so that nested waits share one budget. Thread-safe and immutable.
 */
public final class Deadline {
    private final TimeSource time;
    private final long atNanos;

    Deadline(TimeSource time, long atNanos) {
        this.time = time;
        this.atNanos = atNanos;
    }

    /**
     * Returns the deadline that lies the given time from now, for calling a {@link ShutdownTask} outside a shutdown.
     *
     * @param duration how far away, not negative, at most about 292 years
     * @return a new deadline
     * @throws IllegalArgumentException if {@code duration} is negative
     * @throws ArithmeticException if {@code duration} does not fit into nanoseconds
     */
    public static Deadline after(Duration duration) {
        Objects.requireNonNull(duration, "duration");
        if (duration.isNegative()) {
            throw new IllegalArgumentException("duration is " + duration + ", use zero or more");
        }
        return new Deadline(TimeSource.SYSTEM, TimeSource.SYSTEM.nanoTime() + duration.toNanos());
    }

    /**
     * Returns the time that is left.
     *
     * @return zero once the deadline is past, never negative
     */
    public Duration remaining() {
        return Duration.ofNanos(Math.max(0, atNanos - time.nanoTime()));
    }

    /**
     * Tells whether no time is left.
     *
     * @return true from the instant of the deadline on
     */
    public boolean isPast() {
        return atNanos - time.nanoTime() <= 0;
    }

    long atNanos() {
        return atNanos;
    }

    @Override
    public String toString() {
        return "Deadline[remaining=" + remaining() + "]";
    }
}
