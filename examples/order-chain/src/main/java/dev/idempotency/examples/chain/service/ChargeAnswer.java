package dev.idempotency.examples.chain.service;

/**
 * The provider's answer to a charge.
 *
 * @param chargeId the provider's name for the charge
 */
public record ChargeAnswer(String chargeId) {}
