package dev.idempotency.outbox;

import dev.idempotency.spi.PublishedRows;
import java.time.Duration;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;

/**
 * What the builders have collected and checked.
 *
 * @param name the relay's name, for threads and logs
 * @param owner the name under which it claims: the name and something unique to this instance
 * @param batchSize the most rows of one read
 * @param mostInFlight the most events on their way
 * @param mostBytesInFlight the most bytes on their way
 * @param leaseDuration how long a claim or lease lasts
 * @param sendTimeNanos how much of it a send needs: the publisher's delivery timeout and a margin
 * @param shortestPoll the first wait of an idle relay
 * @param longestPoll the longest
 * @param retry what becomes of events that fail
 * @param publishedRows what becomes of rows that were published
 * @param ordering which order is kept
 * @param listener hears what the relay does
 * @param ticker the monotonic clock, in nanoseconds
 * @param random for jitter, 0 to 1
 */
record RelaySettings(
        String name,
        String owner,
        int batchSize,
        int mostInFlight,
        long mostBytesInFlight,
        Duration leaseDuration,
        long sendTimeNanos,
        Duration shortestPoll,
        Duration longestPoll,
        RetryPolicy retry,
        PublishedRows publishedRows,
        Ordering ordering,
        RelayListener listener,
        LongSupplier ticker,
        DoubleSupplier random) {}
