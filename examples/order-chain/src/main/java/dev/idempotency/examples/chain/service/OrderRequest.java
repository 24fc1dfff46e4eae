package dev.idempotency.examples.chain.service;

/**
 * The body of {@code POST /orders}.
 *
 * @param intent what the customer meant to buy once. It is in the body only so that the demo can count how often each
 *     intent took effect: nothing makes it unique, the key alone has to
 * @param customer who buys
 * @param amountCents the price
 */
public record OrderRequest(String intent, String customer, long amountCents) {}
