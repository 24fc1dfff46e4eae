/**
 * Sends HTTP requests under an idempotency key that survives retries, so that a caller who
 * lost the answer can ask again without doing the work twice.
 */
@NullMarked
package dev.idempotency.client;

import org.jspecify.annotations.NullMarked;
