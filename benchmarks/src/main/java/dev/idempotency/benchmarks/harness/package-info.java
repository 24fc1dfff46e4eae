/**
 * Runs the forms of some work in turn and compares them: a {@link dev.idempotency.benchmarks.harness.Suite} gives its
 * {@link dev.idempotency.benchmarks.harness.Contest contests} to the {@link dev.idempotency.benchmarks.harness.Harness}.
 */
@NullMarked
package dev.idempotency.benchmarks.harness;

import org.jspecify.annotations.NullMarked;
