/**
 * How fast the relay moves events from PostgreSQL to Kafka, and what they cost on the way; {@link
 * dev.idempotency.benchmarks.outbox.OutboxSuite} is the suite.
 */
@NullMarked
package dev.idempotency.benchmarks.outbox;

import org.jspecify.annotations.NullMarked;
