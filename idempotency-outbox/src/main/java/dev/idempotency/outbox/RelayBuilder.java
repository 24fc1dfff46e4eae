package dev.idempotency.outbox;

import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.spi.FencedOutboxPublisher;
import dev.idempotency.spi.OutboxPublisher;
import dev.idempotency.spi.PublishedRows;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Collects the options that relays of every mode have; made by the methods of {@link OutboxRelay} that name a mode, used
 * by one thread.
 *
 * @param <B> the mode's own builder
 */
public abstract sealed class RelayBuilder<B extends RelayBuilder<B>>
        permits LeaseRelayBuilder, ClaimRelayBuilder, LockRelayBuilder {
    /** What a relay keeps in hand for its own statements between the publisher's last answer and the lease's end. */
    static final Duration MARGIN = Duration.ofSeconds(2);

    private static final Duration LONGEST_POLL = Duration.ofMinutes(10);

    final OutboxPublisher publisher;
    private String name = "relay";
    private int batchSize;
    private int mostInFlight = 8_000;
    private long mostBytesInFlight = 32L << 20;
    private Duration leaseDuration = Duration.ofSeconds(30);
    private Duration shortestPoll = Duration.ofMillis(10);
    private Duration longestPoll = Duration.ofSeconds(1);
    private RetryPolicy retry = RetryPolicy.ofDefaults();
    private PublishedRows publishedRows;
    private @Nullable GracefulShutdown shutdown;
    private RelayListener listener = CarefulListener.NONE;
    private LongSupplier ticker = System::nanoTime;

    RelayBuilder(OutboxPublisher publisher, int batchSize, PublishedRows publishedRows) {
        this.publisher = Objects.requireNonNull(publisher, "publisher");
        this.batchSize = batchSize;
        this.publishedRows = publishedRows;
    }

    /**
     * Names the relay in threads, logs and the rows it claims; {@code relay} by default.
     *
     * <p>Two relays may share a name: each adds something of its own to it.
     *
     * @param text 1 to 60 characters without control characters
     * @return this builder
     * @throws IllegalArgumentException if it is longer, blank or holds a control character
     */
    public B name(String text) {
        if (text.isBlank() || text.length() > 60 || text.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException(
                    "A relay's name has 1 to 60 characters, is not blank and holds no control"
                            + " characters, but this one has " + text.length() + " characters");
        }
        this.name = text;
        return self();
    }

    /**
     * Sets how many rows are read at once; by default 1,000 with leases, 500 with claims, 100 with locks, where at most
     * 1,000 are allowed.
     *
     * @param rows 1 to 5,000
     * @return this builder
     * @throws IllegalArgumentException if it is out of range
     */
    public B batchSize(int rows) {
        if (rows < 1 || rows > 5_000) {
            throw new IllegalArgumentException("batchSize must be between 1 and 5,000, but is " + rows);
        }
        this.batchSize = rows;
        return self();
    }

    /**
     * Bounds what is on its way to the broker; 8,000 events and 32 MiB by default.
     *
     * @param events 1 to 100,000
     * @param bytes at least 1; one event may exceed what is left of it
     * @return this builder
     * @throws IllegalArgumentException if one is out of range
     */
    public B maxInFlight(int events, long bytes) {
        if (events < 1 || events > 100_000) {
            throw new IllegalArgumentException("maxInFlight must be between 1 and 100,000 events, but is " + events);
        }
        if (bytes < 1) {
            throw new IllegalArgumentException("maxInFlight must be at least 1 byte, but is " + bytes);
        }
        this.mostInFlight = events;
        this.mostBytesInFlight = bytes;
        return self();
    }

    /**
     * Sets how an idle relay looks for events: after the shortest wait first, then twice as long each time; 10 ms to 1 s
     * by default.
     *
     * <p>A {@linkplain OutboxRelay#nudge nudge} ends the wait, so the longest is felt only by events of other processes
     * and of joined transactions.
     *
     * @param shortest 1 ms to 10 minutes
     * @param longest {@code shortest} to 10 minutes
     * @return this builder
     * @throws IllegalArgumentException if one is out of range
     */
    public B poll(Duration shortest, Duration longest) {
        if (shortest.toMillis() < 1 || longest.compareTo(LONGEST_POLL) > 0 || shortest.compareTo(longest) > 0) {
            throw new IllegalArgumentException(
                    "poll must have 1 ms <= shortest <= longest <= 10 min, but has " + shortest + " and " + longest);
        }
        this.shortestPoll = shortest;
        this.longestPoll = longest;
        return self();
    }

    /**
     * Says what becomes of events that fail for reasons of their own; {@link RetryPolicy#ofDefaults()} by default.
     *
     * @param policy the policy
     * @return this builder
     */
    public B retry(RetryPolicy policy) {
        this.retry = Objects.requireNonNull(policy, "retry");
        return self();
    }

    /**
     * Says what becomes of rows that were published: {@link PublishedRows#DELETE} by default with leases, {@link
     * PublishedRows#KEEP} otherwise.
     *
     * <p>Rows that are kept need an {@link OutboxCleanUp}.
     *
     * @param rows delete or keep
     * @return this builder
     */
    public B published(PublishedRows rows) {
        this.publishedRows = Objects.requireNonNull(rows, "published");
        return self();
    }

    /**
     * Makes the relay part of the application's shutdown: it takes nothing new from {@code STOP_INTAKE} on, finishes in
     * {@code DRAIN} what it has sent, and ends in {@code CLOSE}. Registered at {@link OutboxRelay#start}; none by
     * default.
     *
     * @param applicationShutdown the application's shutdown
     * @return this builder
     */
    public B shutdown(GracefulShutdown applicationShutdown) {
        this.shutdown = Objects.requireNonNull(applicationShutdown, "shutdown");
        return self();
    }

    /**
     * Says who hears what the relay does, such as {@link OutboxMeters}; nobody by default.
     *
     * @param hears the listener
     * @return this builder
     */
    public B listener(RelayListener hears) {
        this.listener = CarefulListener.of(Objects.requireNonNull(hears, "listener"));
        return self();
    }

    /** Sets the monotonic clock, for tests that let time pass. */
    B ticker(LongSupplier nanos) {
        this.ticker = nanos;
        return self();
    }

    /**
     * Returns the relay, not started.
     *
     * @return a new relay
     * @throws IllegalArgumentException if the options do not fit together: the message names them and the cure
     */
    public abstract OutboxRelay build();

    abstract B self();

    void setLease(Duration duration) {
        if (duration.toMillis() < 1_000 || duration.compareTo(Duration.ofHours(24)) > 0) {
            throw new IllegalArgumentException("lease must be between 1 s and 24 h, but is " + duration);
        }
        this.leaseDuration = duration;
    }

    @Nullable
    GracefulShutdown shutdown() {
        return shutdown;
    }

    /** A publisher that fences by ranges has nothing to fence by where rows are taken one by one. */
    void requireNoRanges() {
        if (publisher instanceof FencedOutboxPublisher) {
            throw new IllegalArgumentException(
                    "The publisher " + publisher.getClass().getSimpleName()
                            + " fences by ranges of buckets, which only a relay that leases has: use OutboxRelay.leasing, or a"
                            + " publisher without transactions");
        }
    }

    RelaySettings settings(Ordering ordering) {
        Duration needed = publisher.deliveryTimeout().plus(MARGIN);
        if (needed.compareTo(leaseDuration) >= 0) {
            throw new IllegalArgumentException("A lease of " + leaseDuration
                    + " is too short: an event may be under way"
                    + " for the publisher's delivery timeout of " + publisher.deliveryTimeout() + ", and another "
                    + MARGIN + " are needed to mark it; after the lease's end another relay would send it again."
                    + " Set lease to more than " + needed + ", or shorten the publisher's timeouts");
        }
        byte[] unique = new byte[6];
        new SecureRandom().nextBytes(unique);
        return new RelaySettings(
                name,
                name + "-" + HexFormat.of().formatHex(unique),
                batchSize,
                mostInFlight,
                mostBytesInFlight,
                leaseDuration,
                needed.toNanos(),
                shortestPoll,
                longestPoll,
                retry,
                publishedRows,
                ordering,
                listener,
                ticker,
                () -> ThreadLocalRandom.current().nextDouble());
    }
}
