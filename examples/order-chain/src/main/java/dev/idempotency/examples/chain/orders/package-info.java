/**
 * The order service of the demo, a process of its own: {@link dev.idempotency.examples.chain.orders.OrderService} takes
 * orders over HTTP and relays their events to Kafka.
 */
@NullMarked
package dev.idempotency.examples.chain.orders;

import org.jspecify.annotations.NullMarked;
