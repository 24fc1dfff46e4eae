/**
 * The billing service of the demo, a process of its own: {@link dev.idempotency.examples.chain.billing.BillingService}
 * charges each order that it hears of at the payment provider.
 */
@NullMarked
package dev.idempotency.examples.chain.billing;

import org.jspecify.annotations.NullMarked;
