package dev.idempotency.client;

import java.time.Duration;
import java.time.InstantSource;
import java.util.function.LongSupplier;

/** The options of a client, checked. */
record CallSettings(
        ProviderFormat format,
        int maxAttempts,
        Duration firstBackOff,
        Duration longestBackOff,
        Duration attemptTimeout,
        Duration totalTime,
        Duration longestRetryAfter,
        int maxBodyBytes,
        Redirects redirects,
        boolean resentByTheJdk,
        InstantSource clock,
        LongSupplier nanoTime) {
    /** How old a key may be when an attempt begins, so that the provider still knows it when the attempt ends. */
    Duration usableAge() {
        return format.usableAge(attemptTimeout);
    }
}
