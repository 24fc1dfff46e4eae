/**
 * Reads order events from Kafka and writes one invoice per event, however often the broker
 * delivers it.
 */
@NullMarked
package dev.idempotency.examples.billing;

import org.jspecify.annotations.NullMarked;
