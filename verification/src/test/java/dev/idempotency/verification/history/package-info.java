/**
 * Concurrent histories of the real stores, recorded and checked for linearizability; start at {@link
 * dev.idempotency.verification.history.StoreHistoriesIT}.
 */
@NullMarked
package dev.idempotency.verification.history;

import org.jspecify.annotations.NullMarked;
