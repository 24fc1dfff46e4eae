/**
 * Reads order events from Kafka, charges each order at a payment provider and writes its invoice, once per event,
 * however often the broker delivers it. Start at {@link dev.idempotency.examples.billing.BillingApplication}.
 */
@NullMarked
package dev.idempotency.examples.billing;

import org.jspecify.annotations.NullMarked;
