/**
 * Stores in memory for tests without a database, as strict as the real ones: start at {@link
 * dev.idempotency.testkit.memory.InMemoryDatabase}.
 */
@NullMarked
package dev.idempotency.testkit.memory;

import org.jspecify.annotations.NullMarked;
