/**
 * Turns Kafka records into events that take effect once, and publishes outbox events to Kafka
 * topics.
 */
@NullMarked
package dev.idempotency.kafka;

import org.jspecify.annotations.NullMarked;
