/**
 * What a key and a mark cost at the store, on PostgreSQL; {@link dev.idempotency.benchmarks.store.StoreSuite} is the
 * suite.
 */
@NullMarked
package dev.idempotency.benchmarks.store;

import org.jspecify.annotations.NullMarked;
