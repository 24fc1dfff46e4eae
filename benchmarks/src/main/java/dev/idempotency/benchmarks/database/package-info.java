/**
 * The PostgreSQL that the suites measure with; {@link dev.idempotency.benchmarks.database.BenchServer} starts it.
 */
@NullMarked
package dev.idempotency.benchmarks.database;

import org.jspecify.annotations.NullMarked;
