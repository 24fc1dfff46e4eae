package dev.idempotency.examples.chain.service;

import java.util.UUID;

/**
 * The body of the provider's {@code POST /charges}.
 *
 * @param orderId what the money is for
 * @param amountCents how much
 */
public record ChargeRequest(UUID orderId, long amountCents) {}
