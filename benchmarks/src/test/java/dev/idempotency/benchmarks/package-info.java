/** Tests of the program that measures: what it refuses, and that a suite runs. */
@NullMarked
package dev.idempotency.benchmarks;

import org.jspecify.annotations.NullMarked;
