/**
 * What a store or a publisher implements; engines and adapters call it. Start at {@link
 * dev.idempotency.spi.TransactionalIdempotencyStore}; the contracts that every implementation must pass are in
 * idempotency-testkit.
 */
@NullMarked
package dev.idempotency.spi;

import org.jspecify.annotations.NullMarked;
