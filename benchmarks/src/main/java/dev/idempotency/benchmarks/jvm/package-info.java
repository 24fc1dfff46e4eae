/**
 * What the library does without any database, measured by JMH; {@link dev.idempotency.benchmarks.jvm.JvmSuite} is the
 * suite.
 */
@NullMarked
package dev.idempotency.benchmarks.jvm;

import org.jspecify.annotations.NullMarked;
