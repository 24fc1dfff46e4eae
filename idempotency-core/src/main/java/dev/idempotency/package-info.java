/**
 * What users of idempotency-core touch: the values ({@link dev.idempotency.IdempotencyKey}, {@link
 * dev.idempotency.Scope}, {@link dev.idempotency.EventId}, {@link dev.idempotency.RecordedResult}) and the engine that runs
 * an operation once per key, {@link dev.idempotency.Idempotency}.
 */
@NullMarked
package dev.idempotency;

import org.jspecify.annotations.NullMarked;
