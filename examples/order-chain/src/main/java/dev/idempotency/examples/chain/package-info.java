/**
 * The whole chain in one run: clients send orders over HTTP, the outbox relay publishes them,
 * a consumer bills them, and processes are killed on the way.
 */
@NullMarked
package dev.idempotency.examples.chain;

import org.jspecify.annotations.NullMarked;
