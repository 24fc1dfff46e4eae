/**
 * Orderly end of a process or of an application context. The entry point is
 * {@link dev.idempotency.shutdown.GracefulShutdown}: it refuses new work, waits for the work in flight, and closes
 * resources last, once, within one deadline.
 */
@NullMarked
package dev.idempotency.shutdown;

import org.jspecify.annotations.NullMarked;
