/**
 * Shared by the modules of this library and for nobody else: it may change in every release. Start at {@link
 * dev.idempotency.internal.SqlFailures}.
 */
@NullMarked
package dev.idempotency.internal;

import org.jspecify.annotations.NullMarked;
