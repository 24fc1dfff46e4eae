/**
 * A servlet filter that reads the {@code Idempotency-Key} header, runs the request under that
 * key, and replays the stored response when the same request comes again.
 */
@NullMarked
package dev.idempotency.servlet;

import org.jspecify.annotations.NullMarked;
