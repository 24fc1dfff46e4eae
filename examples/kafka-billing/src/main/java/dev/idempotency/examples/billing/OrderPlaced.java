package dev.idempotency.examples.billing;

import java.util.UUID;

/**
 * The event: an order to be charged.
 *
 * @param orderId the order
 * @param amountCents what to charge
 * @param placedAtMillis when it was placed, in milliseconds since 1970; the same in every message about it
 */
record OrderPlaced(UUID orderId, long amountCents, long placedAtMillis) {
    static final String TOPIC = "orders.placed";
}
