/**
 * Transactions as the library sees them: a {@link dev.idempotency.transaction.TransactionRunner} opens and ends one, a
 * {@link dev.idempotency.transaction.Transaction} gives the guarded resource, a {@link
 * dev.idempotency.transaction.JoinedTransaction} wraps one that the caller owns.
 */
@NullMarked
package dev.idempotency.transaction;

import org.jspecify.annotations.NullMarked;
