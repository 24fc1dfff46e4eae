/** Tests of how runs are taken and told. */
@NullMarked
package dev.idempotency.benchmarks.harness;

import org.jspecify.annotations.NullMarked;
