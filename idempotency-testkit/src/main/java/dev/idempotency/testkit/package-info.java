/**
 * Contract tests that a store inherits, together with the faults they inject: a store that
 * passes them keeps the promises made in {@link dev.idempotency}.
 */
@NullMarked
package dev.idempotency.testkit;

import org.jspecify.annotations.NullMarked;
