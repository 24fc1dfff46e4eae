package dev.idempotency.examples.chain.service;

import java.util.UUID;

/**
 * The body of the answer to {@code POST /orders}.
 *
 * @param orderId the new order; every repeat must hear of the same
 */
public record OrderAnswer(UUID orderId) {}
