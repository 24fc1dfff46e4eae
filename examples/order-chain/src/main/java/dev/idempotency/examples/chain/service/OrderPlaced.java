package dev.idempotency.examples.chain.service;

import java.util.UUID;

/**
 * The event that an order was placed.
 *
 * @param orderId the order
 * @param amountCents what to charge for it
 */
public record OrderPlaced(UUID orderId, long amountCents) {
    /** Where the events are published. */
    public static final String TOPIC = "orders.placed";
}
