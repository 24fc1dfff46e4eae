/**
 * Accepts orders over HTTP, creates each order once per {@code Idempotency-Key}, and answers a
 * repeated request with the first response.
 */
@NullMarked
package dev.idempotency.examples.orders;

import org.jspecify.annotations.NullMarked;
