/**
 * Events that take effect once for each consumer, however often they are delivered: {@link
 * dev.idempotency.event.ProcessedEvents} for a listener of any kind, in its own transaction or in one of the library's,
 * and {@link dev.idempotency.event.EventProcessor} for adapters that hand over whole batches with offsets.
 */
@NullMarked
package dev.idempotency.event;

import org.jspecify.annotations.NullMarked;
