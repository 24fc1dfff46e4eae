/**
 * Sends HTTP requests under one idempotency key that survives retries, so that a caller who lost the answer can ask again
 * without having the work done twice. Start at {@link dev.idempotency.client.IdempotentHttpClient}; what a provider expects
 * of a key is a {@link dev.idempotency.client.ProviderFormat}, what became of a call is a {@link
 * dev.idempotency.client.CallOutcome}.
 */
@NullMarked
package dev.idempotency.client;

import org.jspecify.annotations.NullMarked;
