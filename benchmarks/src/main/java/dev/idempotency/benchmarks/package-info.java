/**
 * Benchmarks that measure what a key, a processed event and an outbox row add to the work they
 * protect.
 */
@NullMarked
package dev.idempotency.benchmarks;

import org.jspecify.annotations.NullMarked;
