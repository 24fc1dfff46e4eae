package dev.idempotency.examples.billing;

import java.util.UUID;

/** The event: an order to be charged. */
record OrderPlaced(UUID orderId, long amountCents) {
    static final String TOPIC = "orders.placed";
}
