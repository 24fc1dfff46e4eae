package dev.idempotency;

/** The monotonic clock, injected so that tests can turn it. */
@FunctionalInterface
interface NanoTicker {
    /** Nanoseconds since an arbitrary instant, as {@link System#nanoTime()} counts them. */
    long nanoTime();
}
