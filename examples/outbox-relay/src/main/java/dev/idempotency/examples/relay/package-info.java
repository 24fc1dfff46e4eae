/**
 * Runs the outbox relay as a process of its own and publishes what an application has
 * committed.
 */
@NullMarked
package dev.idempotency.examples.relay;

import org.jspecify.annotations.NullMarked;
