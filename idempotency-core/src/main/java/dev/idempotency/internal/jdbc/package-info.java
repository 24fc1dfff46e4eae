/**
 * Not for applications: the connection that user code gets inside a transaction, {@link
 * dev.idempotency.internal.jdbc.GuardedConnection}, for the modules that run transactions.
 */
@NullMarked
package dev.idempotency.internal.jdbc;

import org.jspecify.annotations.NullMarked;
