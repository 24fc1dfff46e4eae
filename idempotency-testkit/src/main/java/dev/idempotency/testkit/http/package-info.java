/**
 * Tests over a real socket that a service treats its idempotency keys as the draft standard asks: extend {@link
 * dev.idempotency.testkit.http.HttpIdempotencyContract} and point it at the service.
 */
@NullMarked
package dev.idempotency.testkit.http;

import org.jspecify.annotations.NullMarked;
