/**
 * The relay that takes events which committed transactions left in the outbox table and hands
 * them to a publisher, in order and at least once.
 */
@NullMarked
package dev.idempotency.outbox;

import org.jspecify.annotations.NullMarked;
