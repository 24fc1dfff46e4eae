package dev.idempotency.examples.chain.service;

import java.util.UUID;

/**
 * The event that an order was placed.
 *
 * @param orderId the order
 * @param amountCents what to charge for it
 * @param placedAtMillis when it was placed, in milliseconds since 1970
 */
public record OrderPlaced(UUID orderId, long amountCents, long placedAtMillis) {
    /** Where the events are published. */
    public static final String TOPIC = "orders.placed";
}
