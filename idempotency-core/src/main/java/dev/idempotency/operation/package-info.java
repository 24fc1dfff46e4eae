/**
 * What a call of {@link dev.idempotency.Idempotency#operation} works with: the work, its typed outcome, the codecs of
 * results, and the exceptions that name what stood in the way.
 */
@NullMarked
package dev.idempotency.operation;

import org.jspecify.annotations.NullMarked;
