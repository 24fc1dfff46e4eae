/**
 * What a consumer that applies each event once costs, against the same loop without that; {@link
 * dev.idempotency.benchmarks.kafka.KafkaSuite} is the suite.
 */
@NullMarked
package dev.idempotency.benchmarks.kafka;

import org.jspecify.annotations.NullMarked;
