/**
 * Stores and transactions on SQL databases: start at {@link dev.idempotency.jdbi.JdbiTransactionRunner} and {@link
 * dev.idempotency.jdbi.JdbiIdempotencyStore}; {@link dev.idempotency.jdbi.SchemaInstaller} makes the tables for those who
 * have no migration tool.
 */
@NullMarked
package dev.idempotency.jdbi;

import org.jspecify.annotations.NullMarked;
